/* Starting threads, stop signals, and conditions on the monotonic clock. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <signal.h>

/* Starts a thread that gets no signals; they are left to the thread that waits for them. Otherwise a signal
 * could be delivered to any thread that has not blocked it. Returns 0 or an errno. */
int thread_start(pthread_t *thread, void *(*run)(void *self), void *self);

/* The signals that stop the program: SIGTERM, SIGINT, and SIGHUP (its terminal is gone) unless it was ignored
 * at startup, as with nohup. SIGINT counts even if it was ignored, because shells ignore it for everything
 * started with &. */
sigset_t thread_stop_signals(void);

/* For a program that waits for none of them and has nothing to finish: SIGINT ends it, even if it was ignored
 * at startup. */
void thread_interrupt_ends(void);

/* A condition variable on CLOCK_MONOTONIC (clock_monotonic_after), unaffected by the wall clock. */
void thread_cond_init(pthread_cond_t *cond);

#endif
