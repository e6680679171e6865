/* worker: messages that were put before go through the whole worker, with a C handler that does nothing, or
 * out to a broker. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/time/clock.h"
#include "feed.h"
#include "shift.h"

static pawl_outcome count(const pawl_message *message, pawl_result *result, void *self) {
    (void)message;
    (void)result;
    atomic_fetch_add((atomic_int_fast64_t *)self, 1);
    return PAWL_DONE;
}

/* The time counts from before the worker connects until the store has acknowledged the last completion. */
static pawl_status drain(const struct bench_options *options, double *seconds, pawl_error *err) {
    atomic_int_fast64_t handled = 0;
    struct shift shift = {0};
    pawl_handler handler = {.function = count, .self = &handled};
    int64_t begin_us = clock_boot_us();
    pawl_status status = shift_begin(&shift, options, PAWL_OUTBOX, &handler, err);
    while (status == PAWL_OK && shift_completed(&shift) < options->messages) {
        if (atomic_load(&shift.ended))
            status = error_set(err, PAWL_INTERNAL, "worker", "it ended by itself");
        else if (options->seconds > 0 && clock_boot_us() - begin_us > (int64_t)options->seconds * 1000000)
            status = error_set(err, PAWL_INTERNAL, "worker", "only %" PRId64 " of %" PRId64 " within %d s",
                               shift_completed(&shift), options->messages, options->seconds);
        shift_nap();
    }
    *seconds = (double)(clock_boot_us() - begin_us) / 1e6;
    pawl_error end_err = {0};
    pawl_status ended = shift_end(&shift, &end_err);
    if (status == PAWL_OK && ended != PAWL_OK) {
        *err = end_err;
        status = ended;
    }
    if (status == PAWL_OK && options->transports == NULL && atomic_load(&handled) != options->messages)
        status = error_set(err, PAWL_INTERNAL, "worker", "%lld handled, %lld sent",
                           (long long)atomic_load(&handled), (long long)options->messages);
    return status;
}

pawl_status workload_worker(const struct bench_options *options, pawl_error *err) {
    struct side *side = NULL;
    struct feed *feed = feed_create(options, 0, 1);
    double seconds = 0;
    pawl_status status = feed != NULL ? PAWL_OK : error_set(err, PAWL_NO_MEMORY, "worker", "out of memory");
    if (status == PAWL_OK)
        status = side_pawl.prepare(options, err);
    if (status == PAWL_OK)
        status = side_pawl.open(options, 0, 1, &side, err);
    if (status == PAWL_OK)
        status = feed_fill(side, &side_pawl, feed, options->messages, BENCH_FILL_BATCH, err);
    side_pawl.close(side);
    if (status == PAWL_OK)
        status = bench_calm(options, err);
    if (status == PAWL_OK)
        status = drain(options, &seconds, err);
    if (status == PAWL_OK)
        printf("{\"items\": %" PRId64 ", \"seconds\": %.6f, \"rate\": %.1f}\n", options->messages, seconds,
               (double)options->messages / seconds);
    free(feed);
    return status;
}
