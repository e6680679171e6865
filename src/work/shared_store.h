/* A store handle shared by the threads of running jobs: opened when needed, reopened when it is lost. */
#ifndef WORK_SHARED_STORE_H
#define WORK_SHARED_STORE_H

#include <pthread.h>

#include "store/store.h"

struct shared_store {
    pthread_mutex_t lock;
    struct store_config config; /* texts are borrowed */
    struct store *store;        /* NULL = not open */
};

void shared_store_init(struct shared_store *shared, const struct store_config *config);
void shared_store_close(struct shared_store *shared);

/* The store, exclusively for this thread until shared_store_give. Not PAWL_OK: it could not be opened. */
PAWL_MUSTCHECK pawl_status shared_store_take(struct shared_store *shared, struct store **store,
                                             pawl_error *err);
/* status: of the last call; a handle that no longer works is closed. */
void shared_store_give(struct shared_store *shared, pawl_status status);

#endif
