/* A store handle shared by the threads of running jobs. */
#include "work/shared_store.h"

void shared_store_init(struct shared_store *shared, const struct store_config *config) {
    *shared = (struct shared_store){.config = *config};
    pthread_mutex_init(&shared->lock, NULL);
}

void shared_store_close(struct shared_store *shared) {
    store_close(shared->store);
    shared->store = NULL;
    pthread_mutex_destroy(&shared->lock);
}

pawl_status shared_store_take(struct shared_store *shared, struct store **store, pawl_error *err) {
    pthread_mutex_lock(&shared->lock);
    pawl_status status = shared->store != NULL ? PAWL_OK : store_open(&shared->config, &shared->store, err);
    if (status != PAWL_OK) {
        shared->store = NULL;
        pthread_mutex_unlock(&shared->lock);
        return status;
    }
    *store = shared->store;
    return PAWL_OK;
}

void shared_store_give(struct shared_store *shared, pawl_status status) {
    if (status == PAWL_UNAVAILABLE || status == PAWL_UNKNOWN) {
        store_close(shared->store);
        shared->store = NULL;
    }
    pthread_mutex_unlock(&shared->lock);
}
