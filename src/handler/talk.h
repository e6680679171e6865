/* One conversation with a program: its input, its output, its end, within a time. */
#ifndef HANDLER_TALK_H
#define HANDLER_TALK_H

#include <stdatomic.h>

#include "base/buf.h"
#include "handler/keeper.h"

struct talk {
    struct keeper *keeper;
    struct child_request request;
    pawl_str input;            /* its stdin */
    int64_t deadline_ms;       /* boot time; 0 = none */
    const atomic_bool *cancel; /* may be NULL */
    int64_t term_ms;           /* from being asked to end to being killed, when its time is over */
    /* Told of every line of its stdout as it comes, without the line end; NULL = nobody. */
    void (*on_line)(void *self, pawl_str line);
    void *self;
};

struct talk_end {
    bool timed_out, cancelled, flooded;
    bool exited; /* else killed by a signal */
    int status;
    char complaint[512]; /* the end of its stderr */
};

/* Runs the program to its end. output (initialised, with its limit) gets its stdout. PAWL_OK whatever the
 * program did: see end; else it could not be started. */
PAWL_MUSTCHECK pawl_status talk(const struct talk *in, struct buf *output, struct talk_end *end,
                                pawl_error *err);

#endif
