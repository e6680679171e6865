/* drain: what was put before comes out, each completion fused with the next claim. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/time/clock.h"
#include "crew.h"

static pawl_status fill(const struct bench_options *options, const struct side_ops *ops, double *seconds,
                        pawl_error *err) {
    struct side *side = NULL;
    struct feed *feed = feed_create(options, 0, 1);
    if (feed == NULL)
        return error_set(err, PAWL_NO_MEMORY, "drain", "out of memory");
    pawl_status status = ops->open(options, 0, 1, &side, err);
    int64_t begin_us = clock_boot_us();
    if (status == PAWL_OK)
        status = feed_fill(side, ops, feed, options->messages, BENCH_FILL_BATCH, err);
    *seconds = (double)(clock_boot_us() - begin_us) / 1e6;
    ops->close(side);
    free(feed);
    return status;
}

static pawl_status drain_body(struct crew_member *member, pawl_error *err) {
    return crew_drain(member, member->crew->options->messages, err);
}

pawl_status workload_drain(const struct bench_options *options, pawl_error *err) {
    const struct side_ops *ops = bench_side(options);
    struct crew *crew = NULL;
    double fill_seconds = 0;
    pawl_status status = ops->prepare(options, err);
    if (status == PAWL_OK)
        status = fill(options, ops, &fill_seconds, err);
    if (status == PAWL_OK)
        status = bench_calm(options, err);
    if (status == PAWL_OK)
        status = crew_open(options, ops, &crew, err);
    if (status == PAWL_OK)
        status = crew_join(crew, err);
    if (status == PAWL_OK)
        status = crew_run(crew, drain_body, err);
    if (status == PAWL_OK && atomic_load(&crew->done) != options->messages)
        status = error_set(err, PAWL_INTERNAL, "drain", "%lld messages came out, %lld went in",
                           (long long)atomic_load(&crew->done), (long long)options->messages);
    if (status == PAWL_OK) {
        double seconds = (double)crew->seconds_us / 1e6;
        printf("{\"items\": %" PRId64 ", \"seconds\": %.6f, \"rate\": %.1f, \"fill_rate\": %.1f}\n",
               options->messages, seconds, (double)options->messages / seconds,
               (double)options->messages / fill_seconds);
    }
    crew_free(crew);
    return status;
}
