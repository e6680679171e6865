/* Programs that are kept running and get their work in lines (docs/handlers.md): up to so many processes per
 * command, started when they are needed, watched, replaced and ended. */
#ifndef PROCESS_PIPE_H
#define PROCESS_PIPE_H

#include "base/log.h"
#include "process/process.h"

enum {
    PIPE_AT_ONCE_MAX = 1000,      /* items that one process may take at the same time */
    PIPE_READY_MS = 60000,        /* how long a process may take to say that it is ready */
    PIPE_RESTART_MS = 100,        /* the first delay when processes keep ending */
    PIPE_RESTART_MS_MAX = 10000,  /* the longest */
    PIPE_SNOOZE_MS_DEFAULT = 1000 /* a snooze that does not say for how long */
};

/* All of them, with the thread that reads, starts and ends their processes. */
struct pipes;

/* The processes of one command. */
struct pipe;

struct pipe_config {
    const char *name;  /* for the log, and for pipe_find */
    char *const *argv; /* argv[0] is a path */
    const struct environment_pair *pairs;
    size_t pair_count;
    int processes_max;
    int recycle_after; /* items, then a process is replaced; 0 = never */
    int recycle_mb;    /* of its memory; 0 = any */
};

/* name is part of every process's PAWL_RUN; the log is borrowed, and may be NULL. */
PAWL_MUSTCHECK pawl_status pipes_create(const char *name, struct log *log, struct pipes **pipes,
                                        pawl_error *err);
/* Ends every process: end of input, SIGTERM, SIGKILL, PROCESS_TERM_MS apart. No call may be running. Takes
 * NULL. */
void pipes_free(struct pipes *pipes);

/* Of the processes, for the sweep of orphans. */
struct launcher *pipes_launcher(struct pipes *pipes);

/* Before the first call. */
void pipes_log(struct pipes *pipes, struct log *log);

/* Nothing is started yet. The texts of the pairs are borrowed; PAWL_PIPE=1 is added to them. */
PAWL_MUSTCHECK pawl_status pipe_add(struct pipes *pipes, const struct pipe_config *config, struct pipe **pipe,
                                    pawl_error *err);

/* The one of this name; NULL: there is none. */
struct pipe *pipe_find(struct pipes *pipes, const char *name);

/* Ends the processes of all commands but these, when they have nothing to do; a call starts new ones. */
void pipes_keep(struct pipes *pipes, const pawl_str *names, size_t count);

/* Its name among the programs that cannot be started (start_failure.h). */
const char *pipe_command(const struct pipe *pipe);

struct pipe_call {
    pawl_str members;         /* of the line: "message":{…}; the id comes before them */
    struct stop_limit limits; /* also ends what waits for a process */
    int64_t fence_ms;         /* it is not sent at or after this boot time; 0 = none */
    const atomic_bool *asked; /* true: as STOP_ASKED; may be NULL */
    void (*on_progress)(void *self, pawl_str json); /* in the calling thread; may be NULL */
    void *self;
};

enum pipe_result { PIPE_NONE = 0, PIPE_DONE, PIPE_RETRY, PIPE_REJECT, PIPE_SNOOZE };

struct pipe_answer {
    enum pipe_result result; /* PIPE_NONE: there was no answer, and end says why */
    int64_t after_ms;        /* -1 = not said */
    struct buf output;       /* JSON; empty = none. Freed by the caller. */
    struct process_end end;  /* of an answer: as if a program had exited with its code */
    char error[1280];        /* why it is not done */
};

/* Passes one item to a process and waits for its answer. end.outcome is PROCESS_NOT_STARTED when no process
 * could take it: nothing was tried. Any thread. */
void pipe_run(struct pipe *pipe, const struct pipe_call *call, struct pipe_answer *answer);

#endif
