/* Starting a child process safely from a program with threads. */
#ifndef PROCESS_SPAWN_H
#define PROCESS_SPAWN_H

#include <sys/types.h>

#include "pawl.h"

struct spawn_request {
    char *const *argv; /* argv[0] is the path */
    char *const *envp;
    int in_fd, out_fd, err_fd; /* become 0, 1 and 2; everything else is closed */
};

/*
 * Starts the program in a session of its own. It dies with the calling thread (which therefore has to be the
 * one that lives as long as the worker), has the default signal handling, and nothing but its three
 * descriptors. *pidfd is closed by the caller.
 */
PAWL_MUSTCHECK pawl_status spawn(const struct spawn_request *request, pid_t *pid, int *pidfd,
                                 pawl_error *err);

#endif
