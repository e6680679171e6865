/* Reading a secret from a file. */
#ifndef BASE_OPTIONS_SECRET_H
#define BASE_OPTIONS_SECRET_H

#include "base/arena.h"

enum { SECRET_BYTES_MAX = 65536 };

/* The content of the file without its line ends, in the arena; NULL: it is empty or cannot be read. */
const char *secret_file_read(struct arena *arena, const char *path);

#endif
