/* notify: the floor of latency, from the start of a NOTIFY on one connection to its arrival on another. */
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
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

static pawl_status one(PGconn *sender, PGconn *listener, int64_t *sample_us, pawl_error *err) {
    int64_t begin_us = clock_boot_us();
    PGresult *result = PQexecPrepared(sender, "postgres/notify", 0, NULL, NULL, NULL, 0);
    pawl_status status = pg_check(sender, result, err);
    PQclear(result);
    if (status == PAWL_OK)
        status = await(listener, err);
    *sample_us = clock_boot_us() - begin_us;
    if (status == PAWL_OK && *sample_us < EVERY_US)
        nanosleep(&(struct timespec){0, (long)(EVERY_US - *sample_us) * 1000}, NULL);
    return status;
}

pawl_status workload_notify(const struct bench_options *options, pawl_error *err) {
    PGconn *sender = NULL;
    PGconn *listener = NULL;
    int64_t *samples_us = calloc((size_t)options->samples, sizeof(*samples_us));
    pawl_status status = PAWL_OK;
    if (samples_us == NULL)
        status = error_set(err, PAWL_NO_MEMORY, "notify", "out of memory");
    if (status == PAWL_OK)
        status = pg_connect(options->url, &sender, err);
    if (status == PAWL_OK)
        status = pg_connect(options->url, &listener, err);
    if (status == PAWL_OK)
        status = pg_prepare_file(sender, options, "postgres/notify", err);
    if (status == PAWL_OK)
        status = pg_run_file(listener, options, "postgres/listen", err);
    for (int i = 0; status == PAWL_OK && i < options->samples; i++)
        status = one(sender, listener, &samples_us[i], err);
    if (status == PAWL_OK)
        printf("{\"calls\": %d, \"p50_us\": %" PRId64 ", \"p99_us\": %" PRId64 "}\n", options->samples,
               samples_percentile(samples_us, (size_t)options->samples, 0.5),
               samples_percentile(samples_us, (size_t)options->samples, 0.99));
    PQfinish(listener);
    PQfinish(sender);
    free(samples_us);
    return status;
}
