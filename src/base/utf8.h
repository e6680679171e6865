/* Strict UTF-8: text that PostgreSQL and SQLite both store and return unchanged. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "pawl.h"

/* Whether text is UTF-8 without overlong forms, surrogates or anything above U+10FFFF. A NUL byte is refused
 * unless allow_nul. When false, *offset (may be NULL) is where the first bad sequence starts. */
bool utf8_valid(pawl_str text, bool allow_nul, size_t *offset);

/* Length of the sequence that starts at ptr (1..4), or 0 when it is not valid; *code is the character. */
size_t utf8_decode(const char *ptr, size_t len, uint32_t *code);

/* The longest prefix of text with at most bytes_max bytes that does not cut a character in two. */
pawl_str utf8_cut(pawl_str text, size_t bytes_max);

/* How many characters a valid text has. */
size_t utf8_length(pawl_str text);

/* A character that moves the cursor or ends a line: C0, DEL, C1. */
bool utf8_is_control(uint32_t code);

#endif
