/* Lines from and to a child process, over pipes that do not block. */
#include "process/lines.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { READ_BYTES = 65536 };

void lines_init(struct lines *lines, struct child *child, size_t line_bytes_max) {
    *lines = (struct lines){.child = child, .line_bytes_max = line_bytes_max};
    buf_init(&lines->in, line_bytes_max + READ_BYTES + 1);
    buf_init(&lines->out, 0);
}

void lines_free(struct lines *lines) {
    buf_free(&lines->in);
    buf_free(&lines->out);
    lines->in_at = lines->out_at = 0;
}

void lines_put(struct lines *lines, pawl_str text) {
    size_t from = lines->out.len;
    buf_append_str(&lines->out, text);
    for (char *at = lines->out.ptr + from, *end = lines->out.ptr + lines->out.len; at < end; at++) {
        at = memchr(at, '\n', (size_t)(end - at));
        if (at == NULL)
            return;
        *at = ' ';
    }
}

void lines_end(struct lines *lines) { buf_append_char(&lines->out, '\n'); }

bool lines_write(struct lines *lines) {
    while (lines_pending(lines)) {
        ssize_t wrote =
            child_write(lines->child, lines->out.ptr + lines->out_at, lines->out.len - lines->out_at);
        if (wrote < 0 && errno != EINTR)
            return errno == EAGAIN && !lines->out.failed;
        lines->out_at += wrote > 0 ? (size_t)wrote : 0;
    }
    bool failed = lines->out.failed;
    buf_reset(&lines->out);
    lines->out_at = 0;
    return !failed;
}

ssize_t lines_read(struct lines *lines) {
    char bytes[READ_BYTES];
    struct buf *in = &lines->in;
    if (lines->in_at > 0) {
        memmove(in->ptr, in->ptr + lines->in_at, in->len - lines->in_at + 1);
        in->len -= lines->in_at;
        lines->in_at = 0;
    }
    ssize_t got = read(lines->child->out_fd, bytes, sizeof(bytes));
    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    if (got > 0)
        buf_append(in, bytes, (size_t)got);
    return got == 0 || in->failed ? -1 : got;
}

bool lines_next(struct lines *lines, pawl_str *line) {
    const char *start = lines->in.ptr + lines->in_at;
    const char *end = memchr(start, '\n', lines->in.len - lines->in_at);
    if (end == NULL)
        return false;
    *line = (pawl_str){start, (size_t)(end - start)};
    lines->in_at += line->len + 1;
    return true;
}

bool lines_flooded(const struct lines *lines) { return lines->in.len - lines->in_at > lines->line_bytes_max; }
