/* A pool of threads that talk to the database, each with its own store handle, and the pool_tasks waiting for
 * them. */
#ifndef SERVER_STORE_POOL_H
#define SERVER_STORE_POOL_H

#include <pthread.h>

#include "base/log.h"
#include "store/store.h"

/* Embed it in a task. store is NULL if it could not be opened: err says why. */
struct pool_task {
    void (*run)(struct pool_task *pool_task, struct store *store, const pawl_error *err);
    void (*done)(struct pool_task *pool_task); /* in the loop, after server_hand_back */
    struct pool_task *next;
};

enum { POOL_THREADS_MAX = 4 };

struct store_pool {
    struct store_config config;
    struct log *log;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct pool_task *first, **last;
    pthread_t threads[POOL_THREADS_MAX];
    int thread_count;
    bool ending;
    bool open; /* of the thread that opens and closes it */
};

PAWL_MUSTCHECK pawl_status store_pool_open(struct store_pool *pool, const struct store_config *config,
                                           int threads, struct log *log, pawl_error *err);
void store_pool_put(struct store_pool *pool, struct pool_task *pool_task);
/* Ends the threads; waiting tasks are run without a store. */
void store_pool_close(struct store_pool *pool);

#endif
