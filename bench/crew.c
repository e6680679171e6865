/* Runs the same loop on many connections. */
#include "crew.h"

#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "base/time/clock.h"

enum { SETTLE_ROUNDS_MAX = 100, BACKOFF_US_MIN = 500, BACKOFF_US_MAX = 16000 };

pawl_status crew_open(const struct bench_options *options, const struct side_ops *ops, struct crew **crew,
                      pawl_error *err) {
    struct crew *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return error_set(err, PAWL_NO_MEMORY, "crew", "out of memory");
    made->options = options;
    made->ops = ops;
    pawl_status status = PAWL_OK;
    for (int i = 0; status == PAWL_OK && i < options->threads; i++) {
        struct crew_member *member = &made->members[i];
        *member = (struct crew_member){.crew = made, .index = i};
        status = ops->open(options, i, options->threads, &member->side, err);
        made->count += status == PAWL_OK;
    }
    if (status != PAWL_OK)
        crew_free(made);
    else
        *crew = made;
    return status;
}

void crew_free(struct crew *crew) {
    if (crew == NULL)
        return;
    for (int i = 0; i < crew->count; i++) {
        crew->ops->close(crew->members[i].side);
        free(crew->members[i].feed);
    }
    free(crew);
}

pawl_status crew_join(struct crew *crew, pawl_error *err) {
    pawl_status status = PAWL_OK;
    for (int i = 0; crew->ops->join != NULL && status == PAWL_OK && i < crew->count; i++)
        status = crew->ops->join(crew->members[i].side, err);
    if (status != PAWL_OK || crew->ops->settle == NULL)
        return status;
    for (int round = 0; round < SETTLE_ROUNDS_MAX; round++) {
        bool all = true;
        for (int i = 0; i < crew->count; i++) {
            bool settled = false;
            status = crew->ops->settle(crew->members[i].side, &settled, err);
            if (status != PAWL_OK)
                return status;
            all = all && settled;
        }
        if (all)
            return PAWL_OK;
    }
    return error_set(err, PAWL_INTERNAL, "crew",
                     "%d instances still move lanes after %d rounds of heartbeats", crew->count,
                     SETTLE_ROUNDS_MAX);
}

struct start_one {
    pthread_barrier_t *barrier;
    struct crew_member *member;
    pawl_status (*body)(struct crew_member *member, pawl_error *err);
};

static void *thread_main(void *arg) {
    struct start_one *start = arg;
    pthread_barrier_wait(start->barrier);
    start->member->status = start->body(start->member, &start->member->err);
    if (start->member->status != PAWL_OK)
        atomic_store(&start->member->crew->stop, true); /* the others wait for work that will not come */
    return NULL;
}

pawl_status crew_run(struct crew *crew, pawl_status (*body)(struct crew_member *member, pawl_error *err),
                     pawl_error *err) {
    pthread_t threads[BENCH_THREADS_MAX];
    struct start_one starts[BENCH_THREADS_MAX];
    pthread_barrier_t barrier;
    if (pthread_barrier_init(&barrier, NULL, (unsigned)crew->count + 1) != 0)
        return error_set(err, PAWL_NO_MEMORY, "crew", "no barrier");
    for (int i = 0; i < crew->count; i++) {
        starts[i] = (struct start_one){&barrier, &crew->members[i], body};
        int code = pthread_create(&threads[i], NULL, thread_main, &starts[i]);
        if (code != 0) { /* those that exist wait at the barrier: there is no way on */
            fprintf(stderr, "pawl-bench: cannot make thread %d of %d\n", i + 1, crew->count);
            exit(EXIT_FAILURE);
        }
    }
    int64_t begin_us = clock_boot_us();
    if (crew->options->seconds > 0)
        crew->deadline_us = begin_us + (int64_t)crew->options->seconds * 1000000;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < crew->count; i++)
        pthread_join(threads[i], NULL);
    crew->seconds_us = clock_boot_us() - begin_us;
    pthread_barrier_destroy(&barrier);
    for (int i = 0; i < crew->count; i++) {
        if (crew->members[i].status != PAWL_OK) {
            *err = crew->members[i].err;
            return crew->members[i].status;
        }
    }
    return PAWL_OK;
}

static void pause_us(int us) {
    struct timespec span = {us / 1000000, (long)(us % 1000000) * 1000};
    nanosleep(&span, NULL);
}

pawl_status crew_drain(struct crew_member *member, int64_t total, pawl_error *err) {
    struct crew *crew = member->crew;
    int backoff_us = BACKOFF_US_MIN;
    while (!atomic_load(&crew->stop) && atomic_load(&crew->done) < total) {
        struct drained drained = {0};
        pawl_status status = crew->ops->drain(member->side, crew->options->batch, &drained, err);
        if (status != PAWL_OK)
            return status;
        atomic_fetch_add(&crew->done, drained.done);
        if (drained.claimed > 0 || drained.done > 0) {
            backoff_us = BACKOFF_US_MIN;
            continue;
        }
        if (crew->deadline_us > 0 && clock_boot_us() > crew->deadline_us)
            return error_set(err, PAWL_INTERNAL, "drain",
                             "only %lld of %lld messages came out within the time",
                             (long long)atomic_load(&crew->done), (long long)total);
        pause_us(backoff_us);
        backoff_us = backoff_us * 2 < BACKOFF_US_MAX ? backoff_us * 2 : BACKOFF_US_MAX;
    }
    return PAWL_OK;
}
