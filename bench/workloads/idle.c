/* idle: what a worker costs that has nothing to do. */
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/error.h"
#include "pg.h"
#include "shift.h"

/* An idle backend tells the server of its transactions up to 10 s late; the last of the start come after 2 s.
 */
enum { SETTLE_SECONDS = 20 };

static pawl_outcome nothing(const pawl_message *message, pawl_result *result, void *self) {
    (void)message;
    (void)result;
    (void)self;
    return PAWL_DONE;
}

static void rest(int seconds) { nanosleep(&(struct timespec){seconds, 0}, NULL); }

static double cpu_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static int64_t resident_kib(void) {
    char line[256];
    long long kib = 0;
    FILE *file = fopen("/proc/self/status", "re");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (sscanf(line, "VmRSS: %lld kB", &kib) == 1)
            break;
    }
    if (file != NULL)
        fclose(file);
    return kib;
}

/* Transactions that the server counted, asked over a connection of its own; 0 on SQLite. */
static pawl_status transactions(const struct bench_options *options, PGconn *conn, int64_t *value,
                                pawl_error *err) {
    *value = 0;
    return conn != NULL ? pg_number(conn, options, "postgres/transactions", value, err) : PAWL_OK;
}

static pawl_status watch(const struct bench_options *options, PGconn *conn, pawl_error *err) {
    int64_t before = 0;
    int64_t after = 0;
    rest(SETTLE_SECONDS);
    pawl_status status = transactions(options, conn, &before, err);
    double cpu_before = cpu_seconds();
    rest(options->seconds);
    double cpu = cpu_seconds() - cpu_before;
    int64_t kib = resident_kib();
    if (status == PAWL_OK)
        status = transactions(options, conn, &after, err);
    if (status == PAWL_OK)
        printf("{\"seconds\": %d, \"transactions_per_minute\": %.1f, \"cpu_seconds_per_hour\": %.3f, "
               "\"resident_mib\": %.2f}\n",
               options->seconds, (double)(after - before) * 60.0 / options->seconds,
               cpu * 3600.0 / options->seconds, (double)kib / 1024.0);
    return status;
}

pawl_status workload_idle(const struct bench_options *options, pawl_error *err) {
    struct shift shift = {.everything = true};
    pawl_handler handler = {.function = nothing};
    pawl_error end_err = {0};
    PGconn *conn = NULL;
    if (options->seconds < 1)
        return error_set(err, PAWL_INVALID, "idle", "--seconds is needed");
    pawl_status status = side_pawl.prepare(options, err);
    if (status == PAWL_OK && bench_is_postgres(options->url))
        status = pg_connect(options->url, &conn, err);
    if (status == PAWL_OK)
        status = shift_begin(&shift, options, PAWL_OUTBOX, &handler, err);
    if (status == PAWL_OK)
        status = shift_await_start(&shift, err);
    if (status == PAWL_OK)
        status = watch(options, conn, err);
    pawl_status ended = shift_end(&shift, &end_err);
    if (status == PAWL_OK && ended != PAWL_OK) {
        *err = end_err;
        status = ended;
    }
    PQfinish(conn);
    return status;
}
