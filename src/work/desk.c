/* One store handle that the threads of running jobs share. */
#include "work/desk.h"

void desk_init(struct desk *desk, const struct store_config *config) {
    *desk = (struct desk){.config = *config};
    pthread_mutex_init(&desk->lock, NULL);
}

void desk_close(struct desk *desk) {
    store_close(desk->store);
    desk->store = NULL;
    pthread_mutex_destroy(&desk->lock);
}

pawl_status desk_take(struct desk *desk, struct store **store, pawl_error *err) {
    pthread_mutex_lock(&desk->lock);
    pawl_status status = desk->store != NULL ? PAWL_OK : store_open(&desk->config, &desk->store, err);
    if (status != PAWL_OK) {
        desk->store = NULL;
        pthread_mutex_unlock(&desk->lock);
        return status;
    }
    *store = desk->store;
    return PAWL_OK;
}

void desk_give(struct desk *desk, pawl_status status) {
    if (status == PAWL_UNAVAILABLE || status == PAWL_UNKNOWN) {
        store_close(desk->store);
        desk->store = NULL;
    }
    pthread_mutex_unlock(&desk->lock);
}
