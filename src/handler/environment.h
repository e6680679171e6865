/* The environment of a handler's process: a short list of ours, and nothing secret. */
#ifndef HANDLER_ENVIRONMENT_H
#define HANDLER_ENVIRONMENT_H

#include "base/arena.h"
#include "store/types.h"

struct environment {
    struct arena *arena;
    char **list; /* NULL at the end */
};

PAWL_MUSTCHECK pawl_status environment_make(struct environment *env, const struct item *item, const char *run,
                                            pawl_error *err);
void environment_free(struct environment *env);

#endif
