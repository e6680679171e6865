/* Threads beside the main one. */
#include "base/thread.h"

#include <time.h>

int thread_start(pthread_t *thread, void *(*run)(void *self), void *self) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* a thread inherits the mask */
    int code = pthread_create(thread, NULL, run, self);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

sigset_t thread_stop_signals(void) {
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
    sigset_t stop;
    sigemptyset(&stop);
    for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
        struct sigaction now;
        /* One that is blocked is kept for whoever waits for it, ignored or not. */
        if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&stop, signals[i]);
    }
    return stop;
}

void thread_cond_init(pthread_cond_t *cond) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &monotonic);
    pthread_condattr_destroy(&monotonic);
}
