/* Child processes that live longer than one message: started by one thread that stays, known by name, ended
 * for sure.
 */
#ifndef HANDLER_KEEPER_H
#define HANDLER_KEEPER_H

#include "handler/environment.h"
#include "handler/orphan.h"

enum { KEEPER_CHILDREN_MAX = 1024, CHILD_STDERR_KEPT = 4096 };

/*
 * A child dies with the thread that started it (spawn.h), so that nothing survives a worker that is killed.
 * The threads that need children come and go; the keeper has a thread of its own for starting them.
 */
struct keeper;

/* name is part of every child's PAWL_RUN. */
PAWL_MUSTCHECK pawl_status keeper_create(const char *name, struct keeper **keeper, pawl_error *err);
/* The children must have ended. Takes NULL. */
void keeper_free(struct keeper *keeper);

/* For whoever sweeps orphans: no child starts or ends between lock and unlock. keep->pids and runs are
 * borrowed until then. */
void keeper_lock(struct keeper *keeper, struct orphan_keep *keep);
void keeper_unlock(struct keeper *keeper);

struct child {
    pid_t pid;                        /* 0 = none */
    int pidfd, in_fd, out_fd, err_fd; /* -1 = closed; none of them blocks */
    char err_tail[CHILD_STDERR_KEPT]; /* the last of its stderr, oldest first */
    size_t err_len;
    int slot; /* of the keeper */
};

struct child_request {
    char *const *argv; /* argv[0] is a path */
    const struct environment_pair *pairs;
    size_t pair_count;
};

/* Starts a program with pipes to all three of its descriptors. Any thread. */
PAWL_MUSTCHECK pawl_status child_start(struct keeper *keeper, const struct child_request *request,
                                       struct child *child, pawl_error *err);

/* Reads what stands in its stderr and keeps the end of it. */
void child_read_stderr(struct child *child);

/* Closes its stdin and waits up to grace_ms for it to leave by itself, then kills it and its group. Returns
 * its exit as waitid tells it: code and status. Takes a child that was not started. */
struct child_exit {
    bool exited; /* else killed by a signal */
    int status;
};
struct child_exit child_end(struct keeper *keeper, struct child *child, int64_t grace_ms);

#endif
