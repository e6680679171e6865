/* A byte buffer that grows, knows its length, and remembers that it failed. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>

#include "pawl.h"

/*
 * Appends need not be checked: the first failure (out of memory, over the limit) sets `failed`, later appends
 * do nothing, and the caller checks once at the end. ptr is NUL-terminated at all times and never NULL after
 * buf_init. Fields are for reading; change them only through the functions.
 */
struct buf {
    char *ptr;
    size_t len;
    size_t cap;
    size_t bytes_max;
    bool failed;
};

/* An empty buffer that never holds more than bytes_max (0: PAWL_BUF_BYTES_MAX). Allocates nothing yet. */
void buf_init(struct buf *buf, size_t bytes_max);

/* Frees the memory and leaves an empty buffer that can be used again; takes NULL. */
void buf_free(struct buf *buf);

/* Declares an empty buffer that is freed at the end of its block. */
#define AUTO_BUF(name, bytes_max)                                                                            \
    __attribute__((cleanup(buf_free))) struct buf name;                                                      \
    buf_init(&(name), (bytes_max))

/* Empties the buffer, keeps its memory, clears the failure. */
void buf_reset(struct buf *buf);

void buf_append(struct buf *buf, const void *ptr, size_t len);
void buf_append_str(struct buf *buf, pawl_str text);
void buf_append_cstr(struct buf *buf, const char *text);
void buf_append_char(struct buf *buf, char c);
void buf_printf(struct buf *buf, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *buf, const char *fmt, va_list args) __attribute__((format(printf, 2, 0)));

/* What was appended so far, borrowed until the next change. */
pawl_str buf_str(const struct buf *buf);

/* PAWL_OK, or PAWL_NO_MEMORY when anything appended is missing (no memory, or over bytes_max). */
PAWL_MUSTCHECK pawl_status buf_status(const struct buf *buf, const char *op, pawl_error *err);

#endif
