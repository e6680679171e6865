/* project: events that were appended before become rows of a read model, through the whole worker. */
#include "workloads/project.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "crew.h"
#include "pg.h"
#include "shift.h"

enum { FILL_THREADS = 8, LOOK_EVERY = 20 /* naps */ };

static pawl_status run_file(const struct bench_options *options, const char *name, int64_t *value,
                            pawl_error *err) {
    char path[64];
    bool postgres = bench_is_postgres(options->url);
    snprintf(path, sizeof(path), "%s/%s", postgres ? "postgres" : "sqlite", name);
    if (!postgres)
        return project_sqlite_run(options, path, value, err);
    PGconn *conn = NULL;
    pawl_status status = pg_connect(options->url, &conn, err);
    if (status == PAWL_OK)
        status = value != NULL ? pg_number(conn, options, path, value, err)
                               : pg_run_file(conn, options, path, err);
    PQfinish(conn);
    return status;
}

static pawl_status register_it(struct store *store, const struct bench_options *options, pawl_error *err) {
    struct arena *arena = arena_create(0);
    const char *sql = NULL;
    struct event_pattern pattern = {PATTERN_GLOB, STR("order.*")};
    struct perspective_registered done;
    pawl_status status = bench_sql(
        options, arena, bench_is_postgres(options->url) ? "postgres/project" : "sqlite/project", &sql, err);
    if (status == PAWL_OK) {
        struct perspective_new in = {.name = STR("total"),
                                     .version = 1,
                                     .patterns = &pattern,
                                     .pattern_count = 1,
                                     .run = RUN_SQL,
                                     .target = str_from(sql),
                                     .batch = options->batch};
        status = store->ops->events.perspective_register(store, &in, &done, err);
    }
    for (bool over = false; status == PAWL_OK && !over;)
        status = store->ops->events.perspective_backfill(store, STR("total@1"), BENCH_FILL_BATCH, &over, err);
    arena_free(arena);
    return status;
}

/* Every stream gets its events by as few appends as possible; how is not measured, so no commit waits for the
 * disk where that can be had. */
static pawl_status fill(const struct bench_options *options, pawl_error *err) {
    int64_t each = options->messages / options->streams, items = 0, spent_us = 0;
    struct bench_options filling = *options;
    filling.batch = (int)(each < 1 ? 1 : each > PAWL_APPEND_MAX ? PAWL_APPEND_MAX : each);
    filling.threads = bench_is_postgres(options->url) && options->streams > FILL_THREADS ? FILL_THREADS : 1;
    filling.durable = false;
    filling.seconds = 0;
    return crew_put(&filling, &side_append_pawl, filling.batch, &items, &spent_us, err);
}

/* What workers have done long since when a backlog is there: positions, and the counts in one row. */
static pawl_status settle(struct store *store, const struct bench_options *options, pawl_error *err) {
    struct stamp_result stamped = {.stamped = 1};
    pawl_status status = PAWL_OK;
    while (status == PAWL_OK && stamped.stamped > 0)
        status = store->ops->events.events_stamp(store, BENCH_FILL_BATCH, &stamped, err);
    if (status == PAWL_OK && bench_is_postgres(options->url))
        status = run_file(options, "project_fold", NULL, err);
    if (status == PAWL_OK && bench_is_postgres(options->url))
        status = run_file(options, "project_vacuum", NULL, err);
    return status;
}

/* From before the worker connects until everything is applied. */
static pawl_status work(const struct bench_options *options, int64_t *spent_us, pawl_error *err) {
    struct shift shift = {0};
    int64_t events = 0, begin_us = clock_boot_us();
    pawl_status status = shift_begin(&shift, options, PAWL_OUTBOX, NULL, err);
    for (int nap = 1; status == PAWL_OK && events < options->messages; nap++) {
        shift_nap();
        if (atomic_load(&shift.ended))
            status = error_set(err, PAWL_INTERNAL, "worker", "it ended by itself");
        else if (options->seconds > 0 && clock_boot_us() - begin_us > (int64_t)options->seconds * 1000000)
            status = error_set(err, PAWL_INTERNAL, "worker", "only %" PRId64 " of %" PRId64 " within %d s",
                               events, options->messages, options->seconds);
        else if (nap % LOOK_EVERY == 0)
            status = run_file(options, "project_applied", &events, err);
    }
    *spent_us = clock_boot_us() - begin_us;
    pawl_error end_err = {0};
    pawl_status ended = shift_end(&shift, &end_err);
    if (status == PAWL_OK && ended != PAWL_OK) {
        *err = end_err;
        status = ended;
    }
    return status;
}

static pawl_status measure_pawl(const struct bench_options *options, int64_t *spent_us, pawl_error *err) {
    struct store_config config = {.url = options->url,
                                  .durability = options->durable ? DURABILITY_FULL : DURABILITY_NORMAL};
    struct store *store = NULL;
    pawl_status status = store_open(&config, &store, err);
    if (status == PAWL_OK)
        status = register_it(store, options, err);
    if (status == PAWL_OK)
        status = fill(options, err);
    if (status == PAWL_OK)
        status = settle(store, options, err);
    if (status == PAWL_OK)
        status = bench_calm(options, err);
    if (status == PAWL_OK)
        status = work(options, spent_us, err);
    store_close(store);
    return status;
}

pawl_status workload_project(const struct bench_options *options, pawl_error *err) {
    bool own = strcmp(options->side, "pawl") == 0, postgres = bench_is_postgres(options->url);
    int64_t spent_us = 1, sum = 0;
    pawl_status status = side_pawl.prepare(options, err);
    if (status == PAWL_OK)
        status = run_file(options, "project_table", NULL, err);
    if (status == PAWL_OK && !own && !postgres)
        status = fill(options, err);
    if (status == PAWL_OK)
        status = own        ? measure_pawl(options, &spent_us, err)
                 : postgres ? project_floor_postgres(options, &spent_us, err)
                            : project_floor_sqlite(options, &spent_us, err);
    if (status == PAWL_OK)
        status = run_file(options, "project_sum", &sum, err);
    if (status == PAWL_OK && sum != options->messages * PROJECT_QUANTITY)
        status = error_set(err, PAWL_INTERNAL, "project", "the model holds %" PRId64 " of %" PRId64, sum,
                           options->messages * PROJECT_QUANTITY);
    if (status == PAWL_OK)
        printf("{\"items\": %" PRId64 ", \"seconds\": %.6f, \"rate\": %.1f}\n", options->messages,
               (double)spent_us / 1e6, (double)options->messages * 1e6 / (double)spent_us);
    return status;
}
