/* Threads that talk to the database, each with a store of its own, and the errands that wait for them. */
#ifndef SERVER_DESK_H
#define SERVER_DESK_H

#include <pthread.h>

#include "base/log.h"
#include "store/store.h"

/* Part of what is to be done. store is NULL when there is none: err says why. */
struct errand {
    void (*run)(struct errand *errand, struct store *store, const pawl_error *err);
    void (*done)(struct errand *errand); /* in the loop, behind server_hand_back */
    struct errand *next;
};

enum { DESK_THREADS_MAX = 4 };

struct http_desk {
    struct store_config config;
    struct log *log;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct errand *first, **last;
    pthread_t threads[DESK_THREADS_MAX];
    int thread_count;
    bool ending;
};

PAWL_MUSTCHECK pawl_status http_desk_open(struct http_desk *desk, const struct store_config *config,
                                          int threads, struct log *log, pawl_error *err);
void http_desk_put(struct http_desk *desk, struct errand *errand);
/* Ends the threads; what waits is run without a store. */
void http_desk_close(struct http_desk *desk);

#endif
