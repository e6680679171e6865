/* backlog: what one claim costs while 10 thousand, 100 thousand, a million, ten million messages wait. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/time/clock.h"
#include "crew.h"
#include "samples.h"

enum { LEVEL_FIRST = 10000, LEVEL_STEP = 10 };

struct backlog {
    struct side *side; /* puts and claims */
    const struct side_ops *ops;
    struct feed *feed;
    int64_t *samples_us;
    int64_t waiting;
};

/* Claims options->samples times and ends each claim, outside of the measured time. */
static pawl_status measure(struct backlog *backlog, const struct bench_options *options, pawl_error *err) {
    for (int i = 0; i < options->samples; i++) {
        int claimed = 0;
        int64_t begin_us = clock_boot_us();
        pawl_status status = backlog->ops->claim(backlog->side, options->batch, &claimed, err);
        backlog->samples_us[i] = clock_boot_us() - begin_us;
        if (status == PAWL_OK)
            status = backlog->ops->finish(backlog->side, err);
        if (status == PAWL_OK && claimed != options->batch)
            status = error_set(err, PAWL_INTERNAL, "backlog", "a claim of %d gave %d while %" PRId64 " wait",
                               options->batch, claimed, backlog->waiting);
        if (status != PAWL_OK)
            return status;
        backlog->waiting -= claimed;
    }
    return PAWL_OK;
}

static pawl_status level_run(struct backlog *backlog, const struct bench_options *options, int64_t level,
                             pawl_error *err) {
    printf("%s{\"waiting\": %" PRId64 ", \"claim_us\": [", level == LEVEL_FIRST ? "" : ", ", level);
    pawl_status status = PAWL_OK;
    for (int rep = 0; status == PAWL_OK && rep < options->reps; rep++) {
        status = feed_fill(backlog->side, backlog->ops, backlog->feed, level - backlog->waiting,
                           BENCH_BATCH_MAX, err);
        backlog->waiting = level;
        if (status == PAWL_OK)
            status = bench_calm(options, err);
        if (status == PAWL_OK)
            status = measure(backlog, options, err);
        if (status == PAWL_OK)
            printf("%s%" PRId64, rep == 0 ? "" : ", ",
                   samples_percentile(backlog->samples_us, (size_t)options->samples, 0.5));
    }
    if (status == PAWL_OK)
        printf("], \"p90_us\": %" PRId64 "}",
               samples_percentile(backlog->samples_us, (size_t)options->samples, 0.9));
    return status;
}

pawl_status workload_backlog(const struct bench_options *options, pawl_error *err) {
    struct backlog backlog = {.ops = bench_side(options), .feed = feed_create(options, 0, 1)};
    backlog.samples_us = calloc((size_t)options->samples, sizeof(*backlog.samples_us));
    pawl_status status = PAWL_OK;
    if (backlog.feed == NULL || backlog.samples_us == NULL)
        status = error_set(err, PAWL_NO_MEMORY, "backlog", "out of memory");
    if (status == PAWL_OK)
        status = backlog.ops->prepare(options, err);
    if (status == PAWL_OK)
        status = backlog.ops->open(options, 0, 1, &backlog.side, err);
    if (status == PAWL_OK && backlog.ops->join != NULL)
        status = backlog.ops->join(backlog.side, err);
    if (status == PAWL_OK)
        printf("{\"levels\": [");
    for (int64_t level = LEVEL_FIRST; status == PAWL_OK && level <= options->messages; level *= LEVEL_STEP)
        status = level_run(&backlog, options, level, err);
    if (status == PAWL_OK)
        printf("]}\n");
    backlog.ops->close(backlog.side);
    free(backlog.samples_us);
    free(backlog.feed);
    return status;
}
