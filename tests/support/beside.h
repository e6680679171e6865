/* A worker that runs in a thread beside the test. */
#ifndef SUPPORT_BESIDE_H
#define SUPPORT_BESIDE_H

#include <pthread.h>

#include "pawl.h"

struct beside {
    pawl_worker *worker;
    pthread_t thread;
};

/* The worker stays the caller's, who frees it after beside_stop. */
void beside_start(struct beside *beside, pawl_worker *worker);

/* Stops the worker and waits for its end; fails the test if it ended with an error. */
void beside_stop(struct beside *beside);

#endif
