/* empty: what a call costs that has nothing to report and finds nothing to do. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "pg.h"
#include "samples.h"

enum { WARM_UP = 20 };

static void report(int64_t *samples_us, int count) {
    int64_t sum = 0;
    for (int i = 0; i < count; i++)
        sum += samples_us[i];
    printf("{\"calls\": %d, \"mean_us\": %.1f, \"p50_us\": %" PRId64 ", \"p99_us\": %" PRId64 "}\n", count,
           (double)sum / count, samples_percentile(samples_us, (size_t)count, 0.5),
           samples_percentile(samples_us, (size_t)count, 0.99));
}

/* batch_process through the seam, as the worker calls it. */
static pawl_status empty_call(const struct bench_options *options, int64_t *samples_us, pawl_error *err) {
    struct side *side = NULL;
    pawl_status status = side_pawl.open(options, 0, 1, &side, err);
    if (status == PAWL_OK)
        status = side_pawl.join(side, err);
    for (int i = -WARM_UP; status == PAWL_OK && i < options->samples; i++) {
        struct drained drained = {0};
        int64_t begin_us = clock_boot_us();
        status = side_pawl.drain(side, options->batch, &drained, err);
        if (i >= 0)
            samples_us[i] = clock_boot_us() - begin_us;
        if (status == PAWL_OK && drained.claimed + drained.done != 0)
            status = error_set(err, PAWL_INTERNAL, "empty", "the store is not empty");
    }
    side_pawl.close(side);
    return status;
}

/* pawl.process_work_batch as any other language calls it: plain SQL. */
static pawl_status empty_sql(const struct bench_options *options, int64_t *samples_us, pawl_error *err) {
    PGconn *conn = NULL;
    pawl_uuid id = {0};
    char text[UUID_TEXT_BYTES];
    pawl_status status = uuid_next(&id, err);
    if (status == PAWL_OK)
        status = pg_connect(options->url, &conn, err);
    if (status == PAWL_OK)
        status = pg_prepare_file(conn, options, "postgres/empty_batch", err);
    const char *values[] = {uuid_format(id, text)};
    for (int i = -WARM_UP; status == PAWL_OK && i < options->samples; i++) {
        int64_t begin_us = clock_boot_us();
        PGresult *result = PQexecPrepared(conn, "postgres/empty_batch", 1, values, NULL, NULL, 0);
        if (i >= 0)
            samples_us[i] = clock_boot_us() - begin_us;
        status = pg_check(conn, result, err);
        PQclear(result);
    }
    PQfinish(conn);
    return status;
}

pawl_status workload_empty(const struct bench_options *options, pawl_error *err) {
    bool sql = strcmp(options->side, "sql") == 0;
    if (!sql && strcmp(options->side, "pawl") != 0)
        return error_set(err, PAWL_INVALID, "empty", "--side is pawl or sql here, not %s", options->side);
    if (sql && !bench_is_postgres(options->url))
        return error_set(err, PAWL_INVALID, "empty", "only PostgreSQL has the SQL function");
    int64_t *samples_us = calloc((size_t)options->samples, sizeof(*samples_us));
    if (samples_us == NULL)
        return error_set(err, PAWL_NO_MEMORY, "empty", "out of memory");
    pawl_status status = side_pawl.prepare(options, err);
    if (status == PAWL_OK)
        status = sql ? empty_sql(options, samples_us, err) : empty_call(options, samples_us, err);
    if (status == PAWL_OK)
        report(samples_us, options->samples);
    free(samples_us);
    return status;
}
