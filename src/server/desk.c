/* Threads that talk to the database, each with a store of its own, and the errands that wait for them. */
#include "server/desk.h"

#include <string.h>

#include "base/error.h"

static struct errand *take(struct http_desk *desk) {
    pthread_mutex_lock(&desk->lock);
    while (desk->first == NULL && !desk->ending)
        pthread_cond_wait(&desk->wake, &desk->lock);
    struct errand *errand = desk->first;
    if (errand != NULL) {
        desk->first = errand->next;
        if (desk->first == NULL)
            desk->last = &desk->first;
        errand->next = NULL;
    }
    pthread_mutex_unlock(&desk->lock);
    return errand;
}

/* A store that cannot be opened now is tried again with the next errand. */
static void *work(void *self) {
    struct http_desk *desk = self;
    struct store *store = NULL;
    struct errand *errand;
    while ((errand = take(desk)) != NULL) {
        pawl_error err;
        error_clear(&err);
        if (store == NULL && !desk->ending && store_open(&desk->config, &store, &err) != PAWL_OK)
            log_failure(desk->log, LOG_LEVEL_WARN, "database_unavailable", &err);
        errand->run(errand, store, &err);
    }
    store_close(store);
    return NULL;
}

pawl_status http_desk_open(struct http_desk *desk, const struct store_config *config, int threads,
                           struct log *log, pawl_error *err) {
    *desk = (struct http_desk){.config = *config, .log = log};
    desk->last = &desk->first;
    pthread_mutex_init(&desk->lock, NULL);
    pthread_cond_init(&desk->wake, NULL);
    for (; desk->thread_count < threads; desk->thread_count++) {
        int code = pthread_create(&desk->threads[desk->thread_count], NULL, work, desk);
        if (code != 0)
            return error_errno(err, PAWL_UNAVAILABLE, "server", code, "cannot start a thread");
    }
    return PAWL_OK;
}

void http_desk_put(struct http_desk *desk, struct errand *errand) {
    pthread_mutex_lock(&desk->lock);
    errand->next = NULL;
    *desk->last = errand;
    desk->last = &errand->next;
    pthread_cond_signal(&desk->wake);
    pthread_mutex_unlock(&desk->lock);
}

void http_desk_close(struct http_desk *desk) {
    if (desk->last == NULL)
        return;
    pthread_mutex_lock(&desk->lock);
    desk->ending = true;
    pthread_cond_broadcast(&desk->wake);
    pthread_mutex_unlock(&desk->lock);
    for (int i = 0; i < desk->thread_count; i++)
        pthread_join(desk->threads[i], NULL);
    pthread_mutex_destroy(&desk->lock);
    pthread_cond_destroy(&desk->wake);
    desk->last = NULL;
}
