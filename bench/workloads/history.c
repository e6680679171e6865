/* history: what counting for the history costs: per item in the worker, and per call that passes it on. */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "bench.h"
#include "domain/series.h"
#include "samples.h"

enum {
    ITEMS = 5000000,    /* counted in one go */
    PERIOD_ITEMS = 500, /* counted before each call, over all handlers and queues */
    HANDLERS = 12,
    QUEUES = 4,
    NAME_BYTES = 24,
    POINTS_MAX = 2 + SERIES_SUMS_MAX + ROLLUP_KINDS,
    CALLS_MAX = 3600 /* one a second, so that a call meets what one of a worker meets: nothing is warm */
};

/* What a worker has counted, and how long the calls took. */
struct counted {
    struct rollups rollups;
    struct series_sums series;
    char handlers[HANDLERS][NAME_BYTES], queues[QUEUES][NAME_BYTES];
    struct rollup_cell cells[ROLLUP_CELLS_MAX];
    struct series_point points[POINTS_MAX];
    int64_t without_us[CALLS_MAX], first_us[CALLS_MAX], later_us[CALLS_MAX];
    size_t without, first, later;
};

static int64_t took_us(int item) { return 50 + item * 37 % 20000; }

static void count_series(struct counted *counted, int item) {
    struct series_name handler = {SERIES_HANDLER, ROLLUP_OUTBOX,
                                  str_from(counted->handlers[item % HANDLERS])};
    series_waited(&counted->series, &handler, took_us(item));
    series_handled(&counted->series, &handler, ROLLUP_DONE, took_us(item + 1));
}

static void count_period(struct counted *counted) {
    for (int item = 0; item < PERIOD_ITEMS; item++) {
        struct series_name queue = {SERIES_QUEUE, ROLLUP_JOB, str_from(counted->queues[item % QUEUES])};
        count_series(counted, item);
        series_handled(&counted->series, &queue, ROLLUP_DONE, took_us(item));
        rollups_add_time(&counted->rollups, (struct rollup_series){ROLLUP_WAIT, ROLLUP_OUTBOX, ROLLUP_DONE},
                         took_us(item));
        rollups_add_time(&counted->rollups, (struct rollup_series){ROLLUP_HANDLE, ROLLUP_JOB, ROLLUP_DONE},
                         took_us(item));
    }
}

/* One call as a worker makes it, with the points or without. */
static pawl_status pass_on(struct counted *counted, struct store *store, bool with, int64_t *us,
                           pawl_error *err) {
    count_period(counted);
    struct rollups_new added = {.cells = counted->cells,
                                .count = rollups_take(&counted->rollups, counted->cells)};
    size_t named = series_take(&counted->series, counted->points);
    if (with) {
        added.points = counted->points;
        added.point_count = named + series_of_kinds(counted->cells, added.count, counted->points + named);
    }
    int64_t began_us = clock_boot_us();
    pawl_status status = store->ops->core.rollups_add(store, &added, err);
    *us = clock_boot_us() - began_us;
    return status;
}

static pawl_status call_both(struct counted *counted, struct store *store, int calls, pawl_error *err) {
    pawl_status status = PAWL_OK;
    int64_t step = 0;
    for (int i = 0; i < calls && status == PAWL_OK; i++) {
        int64_t us = 0;
        nanosleep(&(struct timespec){1, 0}, NULL);
        status = pass_on(counted, store, false, &us, err);
        counted->without_us[counted->without++] = us;
        if (status != PAWL_OK)
            break;
        int64_t now = clock_wall_ms() / SERIES_STEP_MS;
        status = pass_on(counted, store, true, &us, err);
        if (i > 0 && now != step) /* the first of all also makes the series */
            counted->first_us[counted->first++] = us;
        else if (i > 0)
            counted->later_us[counted->later++] = us;
        step = now;
    }
    return status;
}

/* CPU time: the handlers of a worker count, and others want the processor too. */
static double cpu_ns(void) {
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double counting_ns(struct counted *counted) {
    double began_ns = cpu_ns();
    for (int item = 0; item < ITEMS; item++)
        count_series(counted, item);
    double ns = (cpu_ns() - began_ns) / ITEMS;
    (void)series_take(&counted->series, counted->points);
    return ns;
}

pawl_status workload_history(const struct bench_options *options, pawl_error *err) {
    struct store_config config = {.url = options->url,
                                  .durability = options->durable ? DURABILITY_FULL : DURABILITY_NORMAL};
    struct counted *counted = calloc(1, sizeof(*counted));
    struct store *store = NULL;
    if (counted == NULL)
        return error_set(err, PAWL_NO_MEMORY, "history", "out of memory");
    pawl_status status = options->seconds <= CALLS_MAX
                             ? side_pawl.prepare(options, err)
                             : error_set(err, PAWL_INVALID, "history", "--seconds is at most %d", CALLS_MAX);
    for (int i = 0; i < HANDLERS; i++)
        snprintf(counted->handlers[i], NAME_BYTES, "order.type%d", i);
    for (int i = 0; i < QUEUES; i++)
        snprintf(counted->queues[i], NAME_BYTES, "queue.%d", i);
    double ns = counting_ns(counted);
    if (status == PAWL_OK)
        status = store_open(&config, &store, err);
    if (status == PAWL_OK)
        status = call_both(counted, store, options->seconds, err);
    if (status == PAWL_OK && (counted->first == 0 || counted->later == 0))
        status = error_set(err, PAWL_INVALID, "history", "--seconds must be more than one step");
    if (status == PAWL_OK)
        printf("{\"counting_ns\": %.1f, \"without_us\": %" PRId64 ", \"first_us\": %" PRId64
               ", \"later_us\": %" PRId64 "}\n",
               ns, samples_percentile(counted->without_us, counted->without, 0.5),
               samples_percentile(counted->first_us, counted->first, 0.5),
               samples_percentile(counted->later_us, counted->later, 0.5));
    store_close(store);
    free(counted);
    return status;
}
