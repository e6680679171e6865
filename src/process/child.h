/* A child process seen from its parent: the pipes between them. launcher.h starts and ends it. */
#ifndef PROCESS_CHILD_H
#define PROCESS_CHILD_H

#include <sys/types.h>

#include "pawl.h"

enum { CHILD_STDERR_KEPT = 4096 };

struct launcher;

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

/* write() to its stdin without the signal that a closed pipe raises, whatever the program does about signals.
 */
ssize_t child_write(const struct child *child, const char *bytes, size_t len);

#endif
