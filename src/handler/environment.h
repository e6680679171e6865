/* The environment variables that describe a message to its program. */
#ifndef HANDLER_ENVIRONMENT_H
#define HANDLER_ENVIRONMENT_H

#include "base/arena.h"
#include "process/spawn.h"
#include "store/types.h"

/* The pairs of a message; texts in the arena. Returns how many. */
enum { ENVIRONMENT_PAIRS_MAX = 16 };
size_t environment_pairs(const struct item *item, struct arena *arena,
                         struct environment_pair pairs[static ENVIRONMENT_PAIRS_MAX]);

#endif
