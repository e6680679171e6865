/* One store handle that the threads of running jobs share: opened when needed, reopened when it is lost. */
#ifndef WORK_DESK_H
#define WORK_DESK_H

#include <pthread.h>

#include "store/store.h"

struct desk {
    pthread_mutex_t lock;
    struct store_config config; /* texts are borrowed */
    struct store *store;        /* NULL = not open */
};

void desk_init(struct desk *desk, const struct store_config *config);
void desk_close(struct desk *desk);

/* The store, for this thread alone until desk_give. PAWL_OK, or what opening it said. */
PAWL_MUSTCHECK pawl_status desk_take(struct desk *desk, struct store **store, pawl_error *err);
/* status: what the last call said; a handle that no longer answers is closed. */
void desk_give(struct desk *desk, pawl_status status);

#endif
