/* put: messages go in, one or many per transaction, over one or many connections. */
#include <inttypes.h>

#include "base/clock.h"
#include "base/error.h"
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

pawl_status workload_put(const struct bench_options *options, pawl_error *err) {
    const struct side_ops *ops = bench_side(options);
    struct crew *crew = NULL;
    pawl_status status = ops->prepare(options, err);
    if (status == PAWL_OK)
        status = crew_open(options, ops, &crew, err);
    for (int i = 0; status == PAWL_OK && i < crew->count; i++) {
        crew->members[i].feed = feed_create(options, i, crew->count);
        if (crew->members[i].feed == NULL)
            status = error_set(err, PAWL_NO_MEMORY, "put", "out of memory");
    }
    if (status == PAWL_OK)
        status = bench_calm(options, err);
    if (status == PAWL_OK)
        status = crew_run(crew, put_body, err);
    if (status == PAWL_OK) {
        int64_t items = atomic_load(&crew->done);
        double seconds = (double)crew->seconds_us / 1e6;
        printf("{\"items\": %" PRId64 ", \"seconds\": %.6f, \"rate\": %.1f}\n", items, seconds,
               (double)items / seconds);
    }
    crew_free(crew);
    return status;
}
