/* Threads beside the main one. */
#include "base/thread.h"

#include <signal.h>
#include <time.h>

int thread_start(pthread_t *thread, void *(*run)(void *self), void *self) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* a thread inherits the mask */
    int code = pthread_create(thread, NULL, run, self);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

void thread_cond_init(pthread_cond_t *cond) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &monotonic);
    pthread_condattr_destroy(&monotonic);
}
