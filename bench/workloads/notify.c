/* notify: the floor of latency, a notification from one connection to another and one back; as --side row
 * each with a row that is made durable. */
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/time/clock.h"
#include "pg.h"
#include "samples.h"

enum { WAIT_MS_MAX = 5000, EVERY_US = 10000 }; /* 100 per second */

static pawl_status await(PGconn *listener, pawl_error *err) {
    for (;;) {
        PGnotify *notice = PQnotifies(listener);
        if (notice != NULL) {
            PQfreemem(notice);
            return PAWL_OK;
        }
        struct pollfd fd = {.fd = PQsocket(listener), .events = POLLIN};
        if (poll(&fd, 1, WAIT_MS_MAX) != 1 || PQconsumeInput(listener) != 1)
            return error_set(err, PAWL_INTERNAL, "notify", "nothing arrived within %d ms", WAIT_MS_MAX);
    }
}

/* From the start of a notification until the other end has it. */
static pawl_status tell(PGconn *sender, PGconn *listener, const char *statement, const char *channel,
                        pawl_error *err) {
    PGresult *result = PQexecPrepared(sender, statement, 1, &channel, NULL, NULL, 0);
    pawl_status status = pg_check(sender, result, err);
    PQclear(result);
    return status == PAWL_OK ? await(listener, err) : status;
}

static pawl_status one(PGconn *near, PGconn *far, const char *statement, int64_t *sample_us,
                       pawl_error *err) {
    int64_t begin_us = clock_boot_us();
    pawl_status status = tell(near, far, statement, "there", err);
    if (status == PAWL_OK)
        status = tell(far, near, statement, "back", err);
    *sample_us = clock_boot_us() - begin_us;
    if (status == PAWL_OK && *sample_us < EVERY_US)
        nanosleep(&(struct timespec){0, (long)(EVERY_US - *sample_us) * 1000}, NULL);
    return status;
}

static pawl_status end_open(const struct bench_options *options, const char *statement, const char *listen,
                            PGconn **end, pawl_error *err) {
    pawl_status status = pg_connect(options->url, end, err);
    if (status == PAWL_OK)
        status = pg_prepare_file(*end, options, statement, err);
    return status == PAWL_OK ? pg_run_file(*end, options, listen, err) : status;
}

pawl_status workload_notify(const struct bench_options *options, pawl_error *err) {
    const char *statement = strcmp(options->side, "row") == 0 ? "postgres/notify_row" : "postgres/notify";
    PGconn *admin = NULL, *near = NULL, *far = NULL;
    int64_t *samples_us = calloc((size_t)options->samples, sizeof(*samples_us));
    pawl_status status = PAWL_OK;
    if (samples_us == NULL)
        status = error_set(err, PAWL_NO_MEMORY, "notify", "out of memory");
    if (status == PAWL_OK)
        status = pg_connect(options->url, &admin, err);
    if (status == PAWL_OK)
        status = pg_run_file(admin, options, "postgres/notify_table", err);
    if (status == PAWL_OK)
        status = end_open(options, statement, "postgres/listen_back", &near, err);
    if (status == PAWL_OK)
        status = end_open(options, statement, "postgres/listen_there", &far, err);
    for (int i = 0; status == PAWL_OK && i < options->samples; i++)
        status = one(near, far, statement, &samples_us[i], err);
    if (status == PAWL_OK)
        printf("{\"calls\": %d, \"p50_us\": %" PRId64 ", \"p99_us\": %" PRId64 "}\n", options->samples,
               samples_percentile(samples_us, (size_t)options->samples, 0.5),
               samples_percentile(samples_us, (size_t)options->samples, 0.99));
    PQfinish(near);
    PQfinish(far);
    PQfinish(admin);
    free(samples_us);
    return status;
}
