/* jobs-worker: jobs that were enqueued before go through two whole workers, with a C handler that does
 * nothing. */
#include <inttypes.h>

#include "base/error.h"
#include "base/time/clock.h"
#include "shift.h"

enum { WORKERS = 2 /* as many as Graphile Worker gets */ };

static pawl_outcome count(const pawl_message *message, pawl_result *result, void *self) {
    (void)message;
    (void)result;
    atomic_fetch_add((atomic_int_fast64_t *)self, 1);
    return PAWL_DONE;
}

static int64_t completed(struct shift *shifts) {
    int64_t sum = 0;
    for (int i = 0; i < WORKERS; i++)
        sum += shift_completed(&shifts[i]);
    return sum;
}

/* Waits for the last completion that the store acknowledges. */
static pawl_status wait_for_all(struct shift *shifts, const struct bench_options *options, int64_t begin_us,
                                pawl_error *err) {
    while (completed(shifts) < options->messages) {
        for (int i = 0; i < WORKERS; i++)
            if (atomic_load(&shifts[i].ended))
                return error_set(err, PAWL_INTERNAL, "jobs", "a worker ended by itself");
        if (options->seconds > 0 && clock_boot_us() - begin_us > (int64_t)options->seconds * 1000000)
            return error_set(err, PAWL_INTERNAL, "jobs", "only %" PRId64 " of %" PRId64 " within %d s",
                             completed(shifts), options->messages, options->seconds);
        shift_nap();
    }
    return PAWL_OK;
}

static pawl_status drain(const struct bench_options *options, double *seconds, pawl_error *err) {
    atomic_int_fast64_t handled = 0;
    struct shift shifts[WORKERS] = {0};
    pawl_handler handler = {.function = count, .self = &handled};
    int64_t begin_us = clock_boot_us();
    int started = 0;
    pawl_status status = PAWL_OK;
    for (; status == PAWL_OK && started < WORKERS; started++)
        status = shift_begin(&shifts[started], options, PAWL_JOB, &handler, err);
    if (status == PAWL_OK)
        status = wait_for_all(shifts, options, begin_us, err);
    *seconds = (double)(clock_boot_us() - begin_us) / 1e6;
    for (int i = 0; i < started; i++) {
        pawl_error end_err = {0};
        pawl_status ended = shift_end(&shifts[i], &end_err);
        if (status == PAWL_OK && ended != PAWL_OK) {
            *err = end_err;
            status = ended;
        }
    }
    if (status == PAWL_OK && atomic_load(&handled) != options->messages)
        status = error_set(err, PAWL_INTERNAL, "jobs", "%lld handled, %lld enqueued",
                           (long long)atomic_load(&handled), (long long)options->messages);
    return status;
}

pawl_status workload_jobs_worker(const struct bench_options *options, pawl_error *err) {
    int64_t put_us = 1;
    double seconds = 1;
    pawl_status status = side_pawl.prepare(options, err);
    if (status == PAWL_OK)
        status = bench_jobs_fill(options, &put_us, err);
    if (status == PAWL_OK)
        status = bench_calm(options, err);
    if (status == PAWL_OK)
        status = drain(options, &seconds, err);
    if (status == PAWL_OK)
        printf("{\"items\": %" PRId64 ", \"seconds\": %.6f, \"rate\": %.1f}\n", options->messages, seconds,
               (double)options->messages / seconds);
    return status;
}
