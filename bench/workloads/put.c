/* put: messages go in, one or many per transaction, over one or many connections. append: events, likewise.
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/time/clock.h"
#include "crew.h"

/* Puts until the time is over, or until the total is reached when there is no time limit. */
static pawl_status put_body(struct crew_member *member, pawl_error *err) {
    struct crew *crew = member->crew;
    const struct bench_options *options = crew->options;
    size_t batch = (size_t)options->batch;
    pawl_status status = PAWL_OK;
    while (status == PAWL_OK && !atomic_load(&crew->stop)) {
        if (crew->deadline_us > 0 ? clock_boot_us() >= crew->deadline_us
                                  : atomic_fetch_add(&crew->put, options->batch) >= options->messages)
            break;
        status = feed_next(member->feed, batch, err);
        if (status == PAWL_OK)
            status = crew->ops->put(member->side, member->feed->messages, batch, err);
        if (status == PAWL_OK)
            atomic_fetch_add(&crew->done, options->batch);
    }
    return status;
}

pawl_status crew_put(const struct bench_options *options, const struct side_ops *ops, int group,
                     int64_t *items, int64_t *spent_us, pawl_error *err) {
    struct crew *crew = NULL;
    pawl_status status = crew_open(options, ops, &crew, err);
    for (int i = 0; status == PAWL_OK && i < crew->count; i++) {
        crew->members[i].feed = feed_create(options, i, crew->count);
        if (crew->members[i].feed == NULL)
            status = error_set(err, PAWL_NO_MEMORY, "put", "out of memory");
        else
            crew->members[i].feed->group = group;
    }
    if (status == PAWL_OK)
        status = bench_calm(options, err);
    if (status == PAWL_OK)
        status = crew_run(crew, put_body, err);
    if (status == PAWL_OK) {
        *items = atomic_load(&crew->done);
        *spent_us = crew->seconds_us;
    }
    crew_free(crew);
    return status;
}

static pawl_status put_with(const struct bench_options *options, const struct side_ops *ops, int group,
                            pawl_error *err) {
    int64_t items = 0, spent_us = 0;
    pawl_status status = ops->prepare(options, err);
    if (status == PAWL_OK)
        status = crew_put(options, ops, group, &items, &spent_us, err);
    if (status == PAWL_OK)
        printf("{\"items\": %" PRId64 ", \"seconds\": %.6f, \"rate\": %.1f}\n", items, (double)spent_us / 1e6,
               (double)items * 1e6 / (double)spent_us);
    return status;
}

pawl_status workload_put(const struct bench_options *options, pawl_error *err) {
    return put_with(options, bench_side(options), 1, err);
}

pawl_status workload_append(const struct bench_options *options, pawl_error *err) {
    const struct side_ops *ops = strcmp(options->side, "pawl") == 0 ? &side_append_pawl
                                 : bench_is_postgres(options->url)  ? &side_append_postgres
                                                                    : &side_append_sqlite;
    return put_with(options, ops, options->batch, err);
}
