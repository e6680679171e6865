/* Starts programs from a thread that stays, knows which of them run, and ends them for sure. */
#ifndef PROCESS_LAUNCHER_H
#define PROCESS_LAUNCHER_H

#include <sys/types.h>

#include "pawl.h"
#include "process/start_failure.h"

enum { LAUNCHER_CHILDREN_MAX = 1024 };

/*
 * A child dies with the thread that started it, so that nothing survives a worker that is killed.
 * Where the threads that need children come and go, the launcher has a thread of its own for starting them.
 */
struct launcher;

enum launcher_thread { LAUNCHER_OWN_THREAD, LAUNCHER_CALLER /* one lasting thread starts all children */ };

/* name is part of every child's PAWL_RUN. */
PAWL_MUSTCHECK pawl_status launcher_create(const char *name, enum launcher_thread thread,
                                           struct launcher **launcher, pawl_error *err);
/* The children must have ended. Takes NULL. */
void launcher_free(struct launcher *launcher);

/* For the sweep of orphans: no child starts or ends between lock and unlock. */
void launcher_lock(struct launcher *launcher);
void launcher_unlock(struct launcher *launcher);
/* With the lock held: whether the process is one of its children; whether one of them, or any at all if run
 * is NULL, has this PAWL_RUN. */
bool launcher_has_child(const struct launcher *launcher, pid_t pid);
bool launcher_has_run(const struct launcher *launcher, const char *run);

/* Programs that could not be started; recorded by child_start. */
struct start_failures *launcher_failures(struct launcher *launcher);

enum { CHILD_STDERR_KEPT = 4096 };

struct environment_pair {
    const char *name;
    const char *value; /* NULL = left out */
};

struct child {
    pid_t pid;                        /* 0 = none */
    int pidfd, in_fd, out_fd, err_fd; /* -1 = closed; none of them blocks */
    char err_tail[CHILD_STDERR_KEPT]; /* the last of its stderr, oldest first */
    size_t err_len;
    struct launcher *launcher; /* and the child's place in it */
    int slot;
};

struct child_request {
    char *const *argv; /* argv[0] is a path */
    const struct environment_pair *pairs;
    size_t pair_count;
    const pawl_str *input; /* all of its stdin; NULL = a pipe, in_fd */
};

/* Reads what is in its stderr and keeps the end of it. */
void child_read_stderr(struct child *child);

/* Closes one of its descriptors, which becomes -1. */
void child_close_fd(int *fd);

/* write() to its stdin without the signal that a closed pipe raises, whatever the program does about signals.
 */
ssize_t child_write(const struct child *child, const char *bytes, size_t len);

/* Starts a program with pipes from its stdout and stderr. The launcher says in which threads. */
PAWL_MUSTCHECK pawl_status child_start(struct launcher *launcher, const struct child_request *request,
                                       struct child *child, pawl_error *err);

struct child_exit {
    bool exited; /* else killed by a signal */
    int status;
};
/* Kills it and its session, unless they have ended, and waits for its end; all its descriptors are closed. */
struct child_exit child_reap(struct child *child);

/* The same, after closing its stdin and waiting up to grace_ms for it to exit by itself. Accepts a child that
 * was not started. */
struct child_exit child_end(struct child *child, int64_t grace_ms);

#endif
