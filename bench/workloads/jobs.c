/* jobs: drains pooled no-op jobs through the store: what one call has done is reported with the next claim.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "bench.h"

struct shared {
    const struct bench_options *options;
    atomic_int_fast64_t done;
    atomic_int ready;
    atomic_bool go;
};

struct hand {
    struct shared *shared;
    pthread_t thread;
    pawl_status status;
    pawl_error err;
};

static struct store_config config_of(const struct bench_options *options) {
    return (struct store_config){.url = options->url,
                                 .durability = options->durable ? DURABILITY_FULL : DURABILITY_NORMAL};
}

static pawl_status register_hand(struct store *store, pawl_uuid *id, pawl_error *err) {
    struct instance_grant grant;
    pawl_status status = uuid_next(id, err);
    struct instance_new in = {
        .id = *id, .service = STR("bench"), .kinds = KIND_BIT_JOBS, .lease_ms = BENCH_LEASE_MS};
    return status == PAWL_OK ? store->ops->core.instance_register(store, &in, &grant, err) : status;
}

/* One call: reports what the last one got, gets more. */
static pawl_status turn(struct store *store, struct jobs_finish *in, struct finish_item *items,
                        struct arena *arena, struct shared *shared, pawl_error *err) {
    struct finish_result result;
    pawl_status status = store->ops->jobs->finish(store, in, arena, &result, err);
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < in->count; i++)
        if (result.answers[i] != ANSWER_APPLIED)
            return error_set(err, PAWL_INTERNAL, "jobs", "a report was answered %d", (int)result.answers[i]);
    (void)atomic_fetch_add(&shared->done, (int_fast64_t)in->count);
    in->count = result.jobs.count;
    for (size_t i = 0; i < in->count; i++)
        items[i] = (struct finish_item){.ref = {result.jobs.jobs[i].token, result.jobs.jobs[i].id},
                                        .outcome = JOB_COMPLETE};
    arena_reset(arena);
    return PAWL_OK;
}

static pawl_status drain(struct hand *hand, struct store *store, struct arena *arena) {
    const struct bench_options *options = hand->shared->options;
    struct finish_item *items = calloc((size_t)options->batch, sizeof *items);
    pawl_uuid id = {0};
    pawl_status status = items == NULL ? error_set(&hand->err, PAWL_NO_MEMORY, "jobs", "out of memory")
                                       : register_hand(store, &id, &hand->err);
    struct jobs_finish in = {
        .instance = id, .items = items, .claim = {.max = options->batch, .lease_ms = BENCH_LEASE_MS}};
    (void)atomic_fetch_add(&hand->shared->ready, 1);
    while (!atomic_load(&hand->shared->go))
        continue;
    while (status == PAWL_OK && (in.count > 0 || atomic_load(&hand->shared->done) < options->messages))
        status = turn(store, &in, items, arena, hand->shared, &hand->err);
    free(items);
    return status;
}

static void *hand_main(void *self) {
    struct hand *hand = self;
    struct store_config config = config_of(hand->shared->options);
    struct store *store = NULL;
    struct arena *arena = arena_create(0);
    hand->status = arena == NULL ? error_set(&hand->err, PAWL_NO_MEMORY, "jobs", "out of memory")
                                 : store_open(&config, &store, &hand->err);
    if (hand->status == PAWL_OK)
        hand->status = drain(hand, store, arena);
    else
        (void)atomic_fetch_add(&hand->shared->ready, 1);
    store_close(store);
    arena_free(arena);
    return NULL;
}

pawl_status bench_jobs_fill(const struct bench_options *options, int64_t *spent_us, pawl_error *err) {
    struct store_config config = config_of(options);
    struct store *store = NULL;
    struct arena *arena = arena_create(0);
    struct job_new *jobs = calloc(BENCH_FILL_BATCH, sizeof *jobs);
    pawl_status status = arena == NULL || jobs == NULL
                             ? error_set(err, PAWL_NO_MEMORY, "jobs", "out of memory")
                             : store_open(&config, &store, err);
    for (size_t i = 0; status == PAWL_OK && i < BENCH_FILL_BATCH; i++)
        jobs[i] = (struct job_new){.type = STR("noop"), .payload = STR("{\"id\":1}")};
    int64_t begin_us = clock_boot_us();
    for (int64_t put = 0; status == PAWL_OK && put < options->messages; put += BENCH_FILL_BATCH) {
        int64_t left = options->messages - put;
        struct enqueue_result result;
        struct jobs_enqueue in = {.jobs = jobs,
                                  .count = (size_t)(left < BENCH_FILL_BATCH ? left : BENCH_FILL_BATCH)};
        status = store->ops->jobs->enqueue(store, &in, arena, &result, err);
        arena_reset(arena);
    }
    *spent_us = clock_boot_us() - begin_us;
    store_close(store);
    free(jobs);
    arena_free(arena);
    return status;
}

static pawl_status run_hands(const struct bench_options *options, int64_t *spent_us, pawl_error *err) {
    struct shared shared = {.options = options};
    struct hand *hands = calloc((size_t)options->threads, sizeof *hands);
    if (hands == NULL)
        return error_set(err, PAWL_NO_MEMORY, "jobs", "out of memory");
    int started = 0;
    for (; started < options->threads; started++) {
        hands[started].shared = &shared;
        if (pthread_create(&hands[started].thread, NULL, hand_main, &hands[started]) != 0)
            break;
    }
    while (atomic_load(&shared.ready) < started)
        continue;
    int64_t begin_us = clock_boot_us();
    atomic_store(&shared.go, true);
    pawl_status status =
        started < options->threads ? error_set(err, PAWL_NO_MEMORY, "jobs", "no more threads") : PAWL_OK;
    for (int i = 0; i < started; i++) {
        (void)pthread_join(hands[i].thread, NULL);
        if (status == PAWL_OK && hands[i].status != PAWL_OK) {
            status = hands[i].status;
            *err = hands[i].err;
        }
    }
    *spent_us = clock_boot_us() - begin_us;
    free(hands);
    return status;
}

pawl_status workload_jobs(const struct bench_options *options, pawl_error *err) {
    int64_t put_us = 1, drain_us = 1;
    if (strcmp(options->side, "pawl") != 0)
        return error_set(err, PAWL_INVALID, "jobs", "--side is pawl here, not %s", options->side);
    pawl_status status = side_pawl.prepare(options, err);
    if (status == PAWL_OK)
        status = bench_jobs_fill(options, &put_us, err);
    if (status == PAWL_OK)
        status = bench_calm(options, err);
    if (status == PAWL_OK)
        status = run_hands(options, &drain_us, err);
    if (status == PAWL_OK)
        printf("{\"items\": %" PRId64 ", \"fill_rate\": %.0f, \"rate\": %.0f}\n", options->messages,
               (double)options->messages * 1e6 / (double)put_us,
               (double)options->messages * 1e6 / (double)drain_us);
    return status;
}
