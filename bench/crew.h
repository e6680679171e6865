/* Threads that start together, work on a shared total, and stop at the first failure. */
#ifndef BENCH_CREW_H
#define BENCH_CREW_H

#include <pthread.h>
#include <stdatomic.h>

#include "feed.h"

struct crew;

struct crew_member {
    struct crew *crew;
    int index;
    struct side *side;
    struct feed *feed; /* NULL for consumers */
    pawl_status status;
    pawl_error err;
};

struct crew {
    const struct bench_options *options;
    const struct side_ops *ops;
    int count;
    struct crew_member members[BENCH_THREADS_MAX];
    atomic_int_fast64_t put;  /* messages put so far by all */
    atomic_int_fast64_t done; /* messages completed so far by all */
    atomic_bool stop;
    int64_t deadline_us; /* 0: none */
    int64_t seconds_us;  /* set by crew_run: from the common start to the last member's end */
};

/* Opens options->threads connections; crew_free releases all. */
pawl_status crew_open(const struct bench_options *options, const struct side_ops *ops, struct crew **crew,
                      pawl_error *err);
void crew_free(struct crew *crew);

/* Puts until options->messages or options->seconds are reached; `group` messages in a row share a stream. */
pawl_status crew_put(const struct bench_options *options, const struct side_ops *ops, int group,
                     int64_t *items, int64_t *spent_us, pawl_error *err);

/* Makes every member a consumer, and waits until the lanes are shared out. */
pawl_status crew_join(struct crew *crew, pawl_error *err);

/* Runs body in every member's own thread, all released at once; the first failure is the answer. */
pawl_status crew_run(struct crew *crew, pawl_status (*body)(struct crew_member *member, pawl_error *err),
                     pawl_error *err);

/* Drains until the crew's done count reaches total; waits a little when there is nothing to get. */
pawl_status crew_drain(struct crew_member *member, int64_t total, pawl_error *err);

#endif
