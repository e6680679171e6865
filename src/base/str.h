/* Helpers for text that carries its length. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include "base/arena.h"
#include "base/buf.h"
#include "pawl.h"

/* For printf: printf("%.*s", STR_ARG(text)). Text longer than INT_MAX is cut. */
#define STR_ARG(text) str_precision(text), (text).ptr != NULL ? (text).ptr : ""

/* A string literal as pawl_str. */
#define STR(literal) ((pawl_str){"" literal, sizeof(literal) - 1})
/* The same for static initialisers, which want constants. */
#define STR_INIT(literal)                                                                                    \
    { "" literal, sizeof(literal) - 1 }

int str_precision(pawl_str text);

/* NULL gives the absent string. The result borrows. */
pawl_str str_from(const char *text);

/* Absent and empty are different things; str_equal treats them as equal text. */
bool str_absent(pawl_str text);
bool str_equal(pawl_str a, pawl_str b);
bool str_equal_cstr(pawl_str a, const char *b);
bool str_starts_with(pawl_str text, pawl_str prefix);

/* Byte order, shorter first when one is a prefix of the other: <0, 0, >0. */
int str_compare(pawl_str a, pawl_str b);

/* Without the blanks, tabs and line ends on both sides. */
pawl_str str_trim(pawl_str text);

/* Without its first bytes; empty when there are no more. */
pawl_str str_skip(pawl_str text, size_t bytes);

/* The text before the first separator, and in *rest what follows it; all of it, and an absent *rest, when
 * there is none. rest may be NULL. */
pawl_str str_before(pawl_str text, char separator, pawl_str *rest);

/* Takes the part up to the next separator off the front of *rest; false when nothing is left. */
bool str_next(pawl_str *rest, char separator, pawl_str *part);

/* ASCII only, whatever the locale. */
static inline bool char_is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool char_is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static inline bool char_is_alnum(char c) { return char_is_digit(c) || char_is_letter(c); }
static inline char char_lower(char c) { return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); }

/* A NUL-terminated copy in the arena. *copy is absent when text is absent. PAWL_NO_MEMORY is the only
 * failure. */
PAWL_MUSTCHECK pawl_status str_dup(struct arena *arena, pawl_str text, pawl_str *copy, pawl_error *err);

struct buf;
/* The same of what was written into the buffer, which is freed in every case. op: for the error. */
PAWL_MUSTCHECK pawl_status str_keep(struct arena *arena, struct buf *written, const char *op, pawl_str *copy,
                                    pawl_error *err);

/* The whole text as a decimal number (a sign is allowed) from min to max. False leaves *value alone. */
PAWL_MUSTCHECK bool str_to_i64(pawl_str text, int64_t min, int64_t max, int64_t *value);
PAWL_MUSTCHECK bool str_to_u64(pawl_str text, uint64_t max, uint64_t *value);

/* words (ends with NULL) as "a, b, c"; what does not fit is cut. */
void str_join(char *list, size_t size, const char *const *words);

/* How many single edits (insert, delete, replace) turn a into b, whatever the letter case. Texts of more than
 * STR_DISTANCE_BYTES_MAX bytes are never near. */
enum { STR_DISTANCE_BYTES_MAX = 64 };
size_t str_distance(pawl_str a, pawl_str b);

/* The bytes as lower-case hexadecimal digits and a NUL. */
void hex_format(const uint8_t *bytes, size_t count, char *text);

/* 0 to 15, or -1 when it is no hexadecimal digit. */
int hex_digit(char c);

/* The index of text in "a|b|c", or -1. */
int str_choice(const char *choices, pawl_str text);

/* Appends what the text stands for; false: it is not base64 (RFC 4648; the = at its end may be missing). */
PAWL_MUSTCHECK bool base64_decode(struct buf *out, pawl_str text);

/* Appends the text with everything but letters, digits and -._~ as %XX. */
void percent_encode(struct buf *out, pawl_str text);

/* %41 becomes A; with a NUL at its end. Absent: it is malformed, or there is no memory. */
pawl_str percent_decode(struct arena *arena, pawl_str text);

#endif
