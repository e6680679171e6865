/* Starting threads, and which signals stop the program. */
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
    struct sigaction hangup;
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTERM);
    sigaddset(&stop, SIGINT);
    /* A blocked signal is kept for the thread that waits for it, even if it is ignored. */
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        sigaddset(&stop, SIGHUP);
    return stop;
}

void thread_interrupt_ends(void) { signal(SIGINT, SIG_DFL); }

void thread_cond_init(pthread_cond_t *cond) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &monotonic);
    pthread_condattr_destroy(&monotonic);
}
