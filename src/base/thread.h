/* Threads beside the main one. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <signal.h>

/* Starts a thread that gets no signals: those are for the thread that waits for them. A signal that ends the
 * process would else reach whichever thread has not blocked it. Returns 0 or an errno. */
int thread_start(pthread_t *thread, void *(*run)(void *self), void *self);

/* What asks a program to stop: SIGTERM, SIGINT, and SIGHUP when its terminal goes away, unless it was started
 * to ignore that, as by nohup. SIGINT counts even then: shells make whatever they start with & ignore it. */
sigset_t thread_stop_signals(void);

/* A condition that is waited for on CLOCK_MONOTONIC (clock_monotonic_after), whatever the wall clock does. */
void thread_cond_init(pthread_cond_t *cond);

#endif
