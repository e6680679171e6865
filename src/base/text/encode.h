/* Base64 and percent-encoding. */
#ifndef BASE_TEXT_ENCODE_H
#define BASE_TEXT_ENCODE_H

#include "base/arena.h"
#include "base/buf.h"

/* Appends what the text stands for; false: it is not base64 (RFC 4648; the = at its end may be missing). */
PAWL_MUSTCHECK bool base64_decode(struct buf *out, pawl_str text);

/* Appends the text with everything but letters, digits and -._~ as %XX. */
void percent_encode(struct buf *out, pawl_str text);

/* %41 becomes A; with a NUL at its end. Absent: it is malformed, or there is no memory. */
pawl_str percent_decode(struct arena *arena, pawl_str text);

#endif
