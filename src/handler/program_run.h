/* Having a program handle an item, whether it is started for it or kept: one call, and one meaning of how it
 * ended, for messages, jobs, receptors, perspectives and tools. */
#ifndef HANDLER_PROGRAM_RUN_H
#define HANDLER_PROGRAM_RUN_H

#include "handler/table.h"
#include "process/pipe.h"
#include "process/process.h"

enum { PROGRAM_SNOOZE_EXIT = 75 /* EX_TEMPFAIL */, PROGRAM_ERROR_BYTES = 1312 };

struct program_verdict {
    enum handler_outcome outcome; /* HANDLED_NOT_RUN: it was told to end */
    int64_t delay_ms;             /* until the next attempt; -1 = not given */
    char error[PROGRAM_ERROR_BYTES];
};

/* The first line of its output (of the first PROCESS_STDOUT_KEPT bytes) that is "pawl:snooze DURATION" or
 * "pawl:retry-after DURATION" counts; a snooze only with exit code PROGRAM_SNOOZE_EXIT. If the directive
 * cannot be honoured, the error says why. timeout_ms: its limit, 0 = unknown. */
struct program_verdict program_judge(const struct process_end *end, pawl_str output, int64_t timeout_ms);

struct program_call {
    char *const *argv;
    struct launcher *launcher; /* starts it … */
    struct pipe *pipe;         /* … unless it is kept: then launcher, argv and pairs are not used */
    const char *what;          /* the item in the line of a kept program: "message", "job", … */
    pawl_str body;             /* the item: stdin, or the member `what` of the line */
    const struct environment_pair *pairs;
    size_t pair_count;
    const struct environment_pair *names; /* beside the item in the line; values may be NULL */
    size_t name_count;
    int attempt;              /* beside it as well, unless 0 */
    size_t out_max, out_kept; /* as process_spec */
    struct stop_limit limits;
    int64_t fence_ms;         /* of a kept program: as pipe_call */
    const atomic_bool *asked; /* likewise */
    int64_t timeout_ms;       /* for the text; 0 = unknown */
    /* Told of progress, without looking at it; NULL = it is not wanted. */
    void (*on_progress)(void *self, pawl_str json);
    void *self;
};

struct program_result {
    pawl_status status;         /* not PAWL_OK: why it was not started */
    struct process_end process; /* PROCESS_NOT_STARTED: nothing was tried; wait_ms says how long to wait */
    bool unanswered;            /* a kept program got the item and ended: it may have happened */
    struct program_verdict verdict;
    struct buf output; /* what it said on stdout, or its output; freed by the caller */
};

/* Runs it to its end in the calling thread. */
void program_run(const struct program_call *call, struct program_result *result);

/* A message and the program that handles it. */
struct message_call {
    const struct handler *handler;
    struct launcher *launcher;
    const struct item *item;
    const char *receptor; /* NULL = none */
    const char *version;  /* of the event that it carries; NULL = none */
    struct stop_limit limits;
    int64_t fence_ms;         /* of a kept program: as pipe_call */
    const atomic_bool *asked; /* likewise */
};
void program_message(const struct message_call *call, struct handler_verdict *verdict);

#endif
