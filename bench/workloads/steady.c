/* steady: one producer and one consumer for a while, with or without a foreign transaction that stays open.
 */
#include <inttypes.h>
#include <time.h>

#include "base/error.h"
#include "base/time/clock.h"
#include "crew.h"
#include "pg.h"

enum { WINDOWS = 6, WAITING_MAX = 50000, PAUSE_NS = 200000 };

struct window {
    int64_t done;
    int64_t at_us;
};

static pawl_status produce(struct crew_member *member, pawl_error *err) {
    struct crew *crew = member->crew;
    size_t batch = (size_t)crew->options->batch;
    pawl_status status = PAWL_OK;
    while (status == PAWL_OK && !atomic_load(&crew->stop) && clock_boot_us() < crew->deadline_us) {
        if (atomic_load(&crew->put) - atomic_load(&crew->done) > WAITING_MAX) {
            nanosleep(&(struct timespec){0, PAUSE_NS}, NULL); /* never outrun the consumer for long */
            continue;
        }
        status = feed_next(member->feed, batch, err);
        if (status == PAWL_OK)
            status = crew->ops->put(member->side, member->feed->messages, batch, err);
        atomic_fetch_add(&crew->put, crew->options->batch);
    }
    return status;
}

static pawl_status consume(struct crew_member *member, pawl_error *err) {
    struct crew *crew = member->crew;
    while (!atomic_load(&crew->stop) && clock_boot_us() < crew->deadline_us) {
        struct drained drained = {0};
        pawl_status status = crew->ops->drain(member->side, crew->options->batch, &drained, err);
        if (status != PAWL_OK)
            return status;
        atomic_fetch_add(&crew->done, drained.done);
        if (drained.claimed == 0)
            nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
    }
    return PAWL_OK;
}

/* Member 2 only looks at the count, at the end of each window. */
static pawl_status watch(struct crew_member *member, pawl_error *err) {
    (void)err;
    struct crew *crew = member->crew;
    int64_t begin_us = clock_boot_us();
    int64_t before = 0;
    printf("{\"windows\": [");
    for (int i = 0; i < WINDOWS && !atomic_load(&crew->stop); i++) {
        int64_t end_us = begin_us + (crew->deadline_us - begin_us) * (i + 1) / WINDOWS;
        int64_t start_us = clock_boot_us();
        while (clock_boot_us() < end_us && !atomic_load(&crew->stop))
            nanosleep(&(struct timespec){0, 10 * 1000 * 1000}, NULL);
        int64_t now = atomic_load(&crew->done);
        printf("%s%.1f", i == 0 ? "" : ", ",
               (double)(now - before) * 1e6 / (double)(clock_boot_us() - start_us));
        before = now;
    }
    printf("], ");
    return PAWL_OK;
}

static pawl_status steady_body(struct crew_member *member, pawl_error *err) {
    switch (member->index) {
    case 0:
        return produce(member, err);
    case 1:
        return consume(member, err);
    default:
        return watch(member, err);
    }
}

static pawl_status crew_ready(struct crew *crew, pawl_error *err) {
    crew->members[0].feed = feed_create(crew->options, 0, 1);
    if (crew->members[0].feed == NULL)
        return error_set(err, PAWL_NO_MEMORY, "steady", "out of memory");
    return crew->ops->join != NULL ? crew->ops->join(crew->members[1].side, err) : PAWL_OK;
}

pawl_status workload_steady(const struct bench_options *options, pawl_error *err) {
    struct bench_options three = *options;
    const struct side_ops *ops = bench_side(options);
    struct crew *crew = NULL;
    PGconn *holder = NULL;
    int64_t bytes = 0;
    three.threads = 3;
    pawl_status status = ops->prepare(&three, err);
    if (status == PAWL_OK)
        status = crew_open(&three, ops, &crew, err);
    if (status == PAWL_OK)
        status = crew_ready(crew, err);
    if (status == PAWL_OK)
        status = bench_calm(&three, err);
    if (status == PAWL_OK)
        status = pg_connect(options->url, &holder, err);
    if (status == PAWL_OK && options->hold)
        status = pg_run_file(holder, options, "postgres/hold", err);
    if (status == PAWL_OK)
        status = crew_run(crew, steady_body, err);
    if (status == PAWL_OK)
        status = pg_number(holder, options, "postgres/table_bytes", &bytes, err);
    if (status == PAWL_OK) {
        int64_t items = atomic_load(&crew->done);
        double seconds = (double)crew->seconds_us / 1e6;
        printf("\"items\": %" PRId64 ", \"seconds\": %.6f, \"rate\": %.1f, \"table_bytes\": %" PRId64 "}\n",
               items, seconds, (double)items / seconds, bytes);
    }
    PQfinish(holder);
    crew_free(crew);
    return status;
}
