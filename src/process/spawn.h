/* Starting a child process safely from a program with threads. */
#ifndef PROCESS_SPAWN_H
#define PROCESS_SPAWN_H

#include <sys/types.h>

#include "pawl.h"

struct environment_pair {
    const char *name;
    const char *value; /* NULL = left out */
};

struct spawn_request {
    char *const *argv; /* argv[0] is the path */
    /* Its environment: the names that every program needs, these pairs, and PAWL_RUN. */
    const struct environment_pair *pairs;
    size_t pair_count;
    const char *run;
    const int *fds; /* three, which become 0, 1 and 2; everything else is closed */
};

/*
 * Starts the program in a new session. It dies with the calling thread (which must therefore live as long as
 * the worker), has the default signal handling, and only three open descriptors. *pidfd is closed by the
 * caller.
 */
PAWL_MUSTCHECK pawl_status spawn(const struct spawn_request *request, pid_t *pid, int *pidfd,
                                 pawl_error *err);

#endif
