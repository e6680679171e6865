/* A pawl worker in a thread of its own, with a handler of the benchmark's, through the public API only. */
#ifndef BENCH_SHIFT_H
#define BENCH_SHIFT_H

#include <pthread.h>
#include <stdatomic.h>

#include "bench.h"

struct shift {
    pawl_worker *worker;
    pthread_t thread;
    bool running;
    bool everything;   /* it serves all kinds, jobs too, as `pawl worker` does; else the outbox only */
    atomic_bool ended; /* by itself: a failure */
    pawl_status status;
    pawl_error err;
};

/* Starts a worker that gives every message, or every job, to the handler (NULL: it builds the perspectives
 * instead), or publishes what is in the outbox where --transports says; zero the shift before, but for
 * everything. shift_end stops it and frees everything. */
pawl_status shift_begin(struct shift *shift, const struct bench_options *options, pawl_kind kind,
                        const pawl_handler *handler, pawl_error *err);
pawl_status shift_end(struct shift *shift, pawl_error *err);

/* Messages whose completion the store has acknowledged. */
int64_t shift_completed(struct shift *shift);

/* Waits until the worker has looked for work once, or fails. */
pawl_status shift_await_start(struct shift *shift, pawl_error *err);

void shift_nap(void); /* a millisecond */

#endif
