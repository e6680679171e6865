/* Child processes: started by a thread that stays, known by name, ended for sure. */
#ifndef PROCESS_KEEPER_H
#define PROCESS_KEEPER_H

#include "process/environment.h"
#include "process/orphan.h"
#include "process/trouble.h"

enum { KEEPER_CHILDREN_MAX = 1024, CHILD_STDERR_KEPT = 4096 };

/*
 * A child dies with the thread that started it (spawn.h), so that nothing survives a worker that is killed.
 * Where the threads that need children come and go, the keeper has a thread of its own for starting them.
 */
struct keeper;

enum keeper_thread { KEEPER_OWN_THREAD, KEEPER_CALLER /* one thread starts all, and stays */ };

/* name is part of every child's PAWL_RUN. */
PAWL_MUSTCHECK pawl_status keeper_create(const char *name, enum keeper_thread thread, struct keeper **keeper,
                                         pawl_error *err);
/* The children must have ended. Takes NULL. */
void keeper_free(struct keeper *keeper);

/* For the sweep of orphans: no child starts or ends between lock and unlock. keep->pids and runs are
 * borrowed until then. */
void keeper_lock(struct keeper *keeper, struct orphan_keep *keep);
void keeper_unlock(struct keeper *keeper);

/* What could not be started; child_start writes it down. */
struct trouble *keeper_trouble(struct keeper *keeper);

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
    const pawl_str *input; /* all of its stdin; NULL = it is talked to through a pipe */
};

/* Starts a program with pipes from its stdout and stderr. The keeper says in which threads. */
PAWL_MUSTCHECK pawl_status child_start(struct keeper *keeper, const struct child_request *request,
                                       struct child *child, pawl_error *err);

/* Reads what is in its stderr and keeps the end of it. */
void child_read_stderr(struct child *child);

struct child_exit {
    bool exited; /* else killed by a signal */
    int status;
};
/* Kills it and its session, unless they have ended, and waits for its end; all its descriptors are closed. */
struct child_exit child_reap(struct keeper *keeper, struct child *child);

/* The same after closing its stdin and waiting up to grace_ms for it to leave by itself. Takes a child that
 * was not started. */
struct child_exit child_end(struct keeper *keeper, struct child *child, int64_t grace_ms);

#endif
