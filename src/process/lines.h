/* Talking to a child process in lines, in both directions, with a limit on the length of a line. */
#ifndef PROCESS_LINES_H
#define PROCESS_LINES_H

#include "base/buf.h"
#include "process/launcher.h"

struct lines {
    struct child *child; /* borrowed */
    size_t line_bytes_max;
    struct buf in;  /* read, not yet returned from in_at on */
    struct buf out; /* to be written from out_at on */
    size_t in_at, out_at;
};

void lines_init(struct lines *lines, struct child *child, size_t line_bytes_max);
void lines_free(struct lines *lines);

/* Adds text to what is written next. lines_end ends the line: line ends inside it, which in JSON are blanks
 * between values, become blanks. */
void lines_put(struct lines *lines, pawl_str text);
void lines_end(struct lines *lines);

/* Whether there is something to write. */
static inline bool lines_pending(const struct lines *lines) { return lines->out.len > lines->out_at; }

/* Writes what fits into the pipe. False: the child does not read any more, or there was no memory. */
bool lines_write(struct lines *lines);

/* Reads what is there, up to 64 KiB. Returns how many bytes, 0: nothing now, -1: the child writes no more, or
 * there is no memory. */
ssize_t lines_read(struct lines *lines);

/* The next whole line without its end; it lives until the next lines_read. */
bool lines_next(struct lines *lines, pawl_str *line);

/* Whether the line that has begun is too long already. */
bool lines_flooded(const struct lines *lines);

#endif
