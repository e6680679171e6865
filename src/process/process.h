/* Running one program: stdin, output, limits and how it ends. Every program is run by these rules. */
#ifndef PROCESS_PROCESS_H
#define PROCESS_PROCESS_H

#include "base/buf.h"
#include "base/stop.h"
#include "process/launcher.h"

enum {
    PROCESS_STDOUT_BYTES_MAX = 8388608, /* more is a flood: the program is killed */
    PROCESS_STDOUT_KEPT = 4096,         /* of a program whose output is only looked at for directives */
    PROCESS_TERM_MS = 2000              /* from SIGTERM to SIGKILL */
};

struct process_spec {
    char *const *argv; /* argv[0] is a path */
    const struct environment_pair *pairs;
    size_t pair_count;
    pawl_str input;  /* its stdin */
    bool talks;      /* its stdin is a pipe instead, child.in_fd */
    size_t out_max;  /* of its stdout; 0 = PROCESS_STDOUT_BYTES_MAX */
    size_t out_kept; /* the first bytes that are kept; 0 = all */
    /* Told of every line of its stdout as it comes, without the line end, of a last one that has none when
     * it exits. NULL = they are not wanted. */
    void (*on_line)(void *self, pawl_str line);
    void *self;
};

/* How it ended; the first reason counts: a program that was told to stop did not exit by itself. */
enum process_outcome {
    PROCESS_EXITED = 1,
    PROCESS_SIGNALLED,
    PROCESS_TIMED_OUT,
    PROCESS_CANCELLED,  /* a person wanted it */
    PROCESS_STOPPED,    /* the worker stops */
    PROCESS_FENCED,     /* the worker has lost the work */
    PROCESS_FLOODED,    /* it wrote more than out_max */
    PROCESS_NOT_STARTED /* not its own fault: descriptors, memory, a missing program */
};

/* The outcome of what was stopped for a reason. */
enum process_outcome process_stopped(enum stop_reason why);

struct process_end {
    enum process_outcome outcome;
    int status;           /* the exit code, or the signal */
    int64_t elapsed_us;   /* since it began */
    size_t out_max;       /* of its stdout */
    int64_t wait_ms;      /* not started: how long its work should wait */
    char complaint[1024]; /* the end of its stderr, else the beginning of its stdout (without
                             "pawl:…"), as text of one line */
};

struct process {
    struct child child; /* pid 0 = there is none */
    size_t out_max, out_kept;
    void (*on_line)(void *self, pawl_str line);
    void *self;
    int64_t started_us;
    int64_t kill_at_ms; /* 0 = not asked to end yet; INT64_MAX = killed */
    enum stop_reason stop;
    bool flooded;
    size_t out_bytes, line_at;
    struct buf out;
};

/* Starts it. Not PAWL_OK: PROCESS_NOT_STARTED, and *err says why. Memory of an earlier run is reused. */
PAWL_MUSTCHECK pawl_status process_start(struct process *process, struct launcher *launcher,
                                         const struct process_spec *spec, pawl_error *err);

/* Reads what is available; a flood gets the program killed. Closed descriptors become -1. */
void process_read(struct process *process);

/* Asks it to end: SIGTERM to its session, SIGKILL after PROCESS_TERM_MS. If its work is lost, it is killed at
 * once. */
void process_stop(struct process *process, enum stop_reason why, int64_t now_ms);

/* Kills programs that ignored SIGTERM. */
void process_tick(struct process *process, int64_t now_ms);

/* The process has ended (or is killed now): reaps it, and kills the rest of its session. What it wrote stays
 * in out. */
void process_reap(struct process *process, struct process_end *end);

void process_free(struct process *process);

/* Runs a program to its end in the calling thread. PAWL_OK whatever the program did: see end; else it could
 * not be started (end->outcome is PROCESS_NOT_STARTED). output gets what is kept of its stdout, may be NULL,
 * and is freed by the caller. */
PAWL_MUSTCHECK pawl_status process_run(struct launcher *launcher, const struct process_spec *spec,
                                       const struct stop_limit *limits, struct buf *output,
                                       struct process_end *end, pawl_error *err);

/* It ended by itself, with exit code 0. */
static inline bool process_done(const struct process_end *end) {
    return end->outcome == PROCESS_EXITED && end->status == 0;
}

/* Whether its exit code says that retrying is pointless. A signal never does: the limit of attempts handles
 * programs that always crash. */
bool process_permanent(const struct process_end *end);

/* Turns untrusted output into text that every store accepts: UTF-8 without control characters, in one line.
 */
void process_words(pawl_str bytes, char *text, size_t size);

/* What happened, in words, with its error output; timeout_ms is the intended limit, 0 = unknown. */
void process_explain(const struct process_end *end, int64_t timeout_ms, char *text, size_t size);

#endif
