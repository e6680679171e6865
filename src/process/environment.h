/* The environment of a program: a short list of ours, and nothing secret. */
#ifndef PROCESS_ENVIRONMENT_H
#define PROCESS_ENVIRONMENT_H

#include "base/arena.h"
#include "pawl.h"

struct environment {
    struct arena *arena;
    char **list; /* NULL at the end */
};

struct environment_pair {
    const char *name;
    const char *value;
};

/* What a program needs to run, and the pairs given (a NULL value is left out). */
PAWL_MUSTCHECK pawl_status environment_plain(struct environment *env, const struct environment_pair *pairs,
                                             size_t count, const char *run, pawl_error *err);

void environment_free(struct environment *env);

#endif
