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
/* The same for a program that serves no message: what a program needs to run, and the pairs given (a NULL
 * value is left out). */
struct environment_pair {
    const char *name;
    const char *value;
};
PAWL_MUSTCHECK pawl_status environment_plain(struct environment *env, const struct environment_pair *pairs,
                                             size_t count, const char *run, pawl_error *err);
/* What a program is told of its message; texts in the arena. Returns how many. */
enum { ENVIRONMENT_PAIRS_MAX = 16 };
size_t environment_pairs(const struct item *item, struct arena *arena,
                         struct environment_pair pairs[static ENVIRONMENT_PAIRS_MAX]);

void environment_free(struct environment *env);

#endif
