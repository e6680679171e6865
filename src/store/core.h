/* The core interface of the stores: coordination of messages and instances (docs/protocol.md). */
#ifndef STORE_CORE_H
#define STORE_CORE_H

#include "store/types.h"

struct store;

/* Every store fills every slot. Memory of results comes from the arena; outputs are written only on PAWL_OK.
 * Each call is its own transaction; statuses are those of pawl.h. */
struct store_core_ops {
#define OPERATION(name, ...) pawl_status (*name)(struct store * store, __VA_ARGS__);
#include "store/operations/core.h"
#undef OPERATION
};

#endif
