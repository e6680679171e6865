/* A handler that is a program: one process per message, fed, limited and ended. */
#ifndef HANDLER_PROCESS_H
#define HANDLER_PROCESS_H

#include <sys/types.h>

#include "handler/orphan.h"
#include "handler/table.h"
#include "handler/wish.h"
#include "store/types.h"

enum {
    PROCESS_STDOUT_BYTES_MAX = 8388608, /* more is a flood: the program is ended */
    PROCESS_STDOUT_KEPT = 4096,
    PROCESS_STDERR_RING = 65536,
    PROCESS_TERM_MS = 2000 /* from SIGTERM to SIGKILL */
};

enum process_stop { PROCESS_TIMEOUT = 1, PROCESS_STOP, PROCESS_KILL };

struct process {
    pid_t pid;                 /* 0 = free */
    int pidfd, out_fd, err_fd; /* -1 = closed */
    char run[ORPHAN_RUN_BYTES];
    int64_t timeout_ms;
    int64_t started_us;
    int64_t kill_at_ms; /* 0 = not asked to end yet; INT64_MAX = killed */
    bool timed_out, cancelled, flooded;
    size_t out_bytes;
    size_t out_len;
    char out[PROCESS_STDOUT_KEPT];
    char *err_ring; /* owned; allocated at first use */
    size_t err_bytes;
};

struct process_result {
    bool done, cancelled, permanent;
    struct wish wish; /* when it is not done */
    char error[2048];
};

/* Starts the handler's program with the message on its stdin. */
PAWL_MUSTCHECK pawl_status process_start(struct process *process, const struct handler *handler,
                                         const struct item *item, const char *run, pawl_error *err);

/* Reads what is there; a flood is killed. Closed descriptors become -1. */
void process_read(struct process *process);

/* Asks the process to end (SIGTERM to its group, SIGKILL after PROCESS_TERM_MS), or kills it. */
void process_end(struct process *process, enum process_stop why, int64_t now_ms);

/* Kills what did not listen. */
void process_tick(struct process *process, int64_t now_ms);

/* The process has ended: reaps it, kills the rest of its group, tells what it all means. Leaves the slot
 * free. */
void process_reap(struct process *process, struct process_result *result);

void process_free(struct process *process);

#endif
