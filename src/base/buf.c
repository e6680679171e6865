/* A byte buffer that grows, knows its length, and remembers that it failed. */
#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"

#define FIRST_CAP 64

/* An empty buffer points here. It is never written to, because cap 0 makes every append allocate first. */
static const char empty[1] = "";

void buf_init(struct buf *buf, size_t bytes_max) {
    *buf = (struct buf){
        .ptr = (char *)(uintptr_t)empty,
        .bytes_max = bytes_max > 0 && bytes_max < PAWL_BUF_BYTES_MAX ? bytes_max : PAWL_BUF_BYTES_MAX,
    };
}

void buf_free(struct buf *buf) {
    if (buf == NULL)
        return;
    if (buf->cap > 0)
        free(buf->ptr);
    buf_init(buf, buf->bytes_max);
}

void buf_reset(struct buf *buf) {
    buf->len = 0;
    buf->failed = false;
    if (buf->cap > 0)
        buf->ptr[0] = '\0';
}

/* Makes room for more bytes and the NUL byte after them. Sums cannot overflow: both are at most bytes_max.
 */
static bool reserve(struct buf *buf, size_t more) {
    if (buf->failed)
        return false;
    if (more > buf->bytes_max - buf->len) {
        buf->failed = true;
        return false;
    }
    size_t needed = buf->len + more + 1;
    if (needed <= buf->cap)
        return true;
    size_t cap = buf->cap > 0 ? buf->cap : FIRST_CAP;
    while (cap < needed)
        cap *= 2;
    char *grown = realloc(buf->cap > 0 ? buf->ptr : NULL, cap);
    if (grown == NULL) {
        buf->failed = true;
        return false;
    }
    buf->ptr = grown;
    buf->cap = cap;
    return true;
}

void buf_append(struct buf *buf, const void *ptr, size_t len) {
    if (!reserve(buf, len))
        return;
    if (len > 0)
        memcpy(buf->ptr + buf->len, ptr, len);
    buf->len += len;
    buf->ptr[buf->len] = '\0';
}

void buf_append_str(struct buf *buf, pawl_str text) { buf_append(buf, text.ptr, text.len); }

void buf_append_cstr(struct buf *buf, const char *text) { buf_append(buf, text, strlen(text)); }

void buf_append_char(struct buf *buf, char c) { buf_append(buf, &c, 1); }

void buf_printf(struct buf *buf, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    buf_vprintf(buf, fmt, args);
    va_end(args);
}

void buf_vprintf(struct buf *buf, const char *fmt, va_list args) {
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    if (len < 0)
        buf->failed = true;
    else if (reserve(buf, (size_t)len)) {
        vsnprintf(buf->ptr + buf->len, (size_t)len + 1, fmt, again);
        buf->len += (size_t)len;
    }
    va_end(again);
}

pawl_str buf_str(const struct buf *buf) { return (pawl_str){buf->ptr, buf->len}; }

pawl_status buf_status(const struct buf *buf, const char *op, pawl_error *err) {
    if (!buf->failed)
        return PAWL_OK;
    return error_set(err, PAWL_NO_MEMORY, op,
                     "the text does not fit into memory or into its limit of %zu bytes", buf->bytes_max);
}
