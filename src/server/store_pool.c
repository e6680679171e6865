/* The threads of a store pool, and their queue of pool_tasks. */
#include "server/store_pool.h"

#include <string.h>

#include "base/error.h"

static struct pool_task *take(struct store_pool *pool, bool *ending) {
    pthread_mutex_lock(&pool->lock);
    while (pool->first == NULL && !pool->ending)
        pthread_cond_wait(&pool->wake, &pool->lock);
    struct pool_task *pool_task = pool->first;
    if (pool_task != NULL) {
        pool->first = pool_task->next;
        if (pool->first == NULL)
            pool->last = &pool->first;
        pool_task->next = NULL;
    }
    *ending = pool->ending;
    pthread_mutex_unlock(&pool->lock);
    return pool_task;
}

/* If the store cannot be opened now, the next pool_task tries again. */
static void *work(void *self) {
    struct store_pool *pool = self;
    struct store *store = NULL;
    struct pool_task *pool_task;
    bool ending = false;
    while ((pool_task = take(pool, &ending)) != NULL) {
        pawl_error err;
        error_clear(&err);
        if (store == NULL && !ending && store_open(&pool->config, &store, &err) != PAWL_OK)
            log_failure(pool->log, LOG_LEVEL_WARN, "database_unavailable", &err);
        pool_task->run(pool_task, store, &err);
    }
    store_close(store);
    return NULL;
}

pawl_status store_pool_open(struct store_pool *pool, const struct store_config *config, int threads,
                            struct log *log, pawl_error *err) {
    *pool = (struct store_pool){.config = *config, .log = log};
    pool->last = &pool->first;
    pool->open = true;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    for (; pool->thread_count < threads; pool->thread_count++) {
        int code = pthread_create(&pool->threads[pool->thread_count], NULL, work, pool);
        if (code != 0)
            return error_errno(err, PAWL_UNAVAILABLE, "server", code, "cannot start a thread");
    }
    return PAWL_OK;
}

void store_pool_put(struct store_pool *pool, struct pool_task *pool_task) {
    pthread_mutex_lock(&pool->lock);
    pool_task->next = NULL;
    *pool->last = pool_task;
    pool->last = &pool_task->next;
    pthread_cond_signal(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
}

void store_pool_close(struct store_pool *pool) {
    if (!pool->open)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->ending = true;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->thread_count; i++)
        pthread_join(pool->threads[i], NULL);
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->wake);
    pool->open = false;
}
