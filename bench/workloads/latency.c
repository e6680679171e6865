/* latency: 100 messages a second, from before they are put until their handler runs. */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "base/time/clock.h"
#include "feed.h"
#include "samples.h"
#include "shift.h"

enum { EVERY_US = 10000, WAIT_US_MAX = 30000000 };

struct trip {
    int64_t *put_us;
    atomic_int_fast64_t *delay_us; /* 0: not yet */
    int64_t count;
    atomic_int_fast64_t arrived;
};

static pawl_outcome arrive(const pawl_message *message, pawl_result *result, void *self) {
    struct trip *trip = self;
    (void)result;
    int64_t now_us = clock_boot_us();
    char text[32]; /* the payload has a length, not an end */
    long long n = -1;
    snprintf(text, sizeof(text), "%.*s", (int)(message->payload.len < 31 ? message->payload.len : 31),
             message->payload.ptr);
    if (sscanf(text, "{\"n\":%lld", &n) == 1 && n >= 0 && n < trip->count) {
        atomic_store(&trip->delay_us[n], now_us - trip->put_us[n]);
        atomic_fetch_add(&trip->arrived, 1);
    }
    return PAWL_DONE;
}

static void wait_until(int64_t at_us) {
    int64_t left_us = at_us - clock_boot_us();
    if (left_us > 0)
        nanosleep(&(struct timespec){left_us / 1000000, (long)(left_us % 1000000) * 1000}, NULL);
}

static pawl_status send_all(struct side *side, struct feed *feed, struct trip *trip, pawl_error *err) {
    int64_t begin_us = clock_boot_us();
    pawl_status status = PAWL_OK;
    for (int64_t n = 0; status == PAWL_OK && n < trip->count; n++) {
        wait_until(begin_us + n * EVERY_US);
        status = feed_next(feed, 1, err);
        trip->put_us[n] = clock_boot_us();
        if (status == PAWL_OK)
            status = side_pawl.put(side, feed->messages, 1, err);
    }
    int64_t end_us = clock_boot_us();
    while (status == PAWL_OK && atomic_load(&trip->arrived) < trip->count) {
        if (clock_boot_us() - end_us > WAIT_US_MAX)
            status = error_set(err, PAWL_INTERNAL, "latency", "only %lld of %lld messages arrived",
                               (long long)atomic_load(&trip->arrived), (long long)trip->count);
        shift_nap();
    }
    return status;
}

static void report(const struct trip *trip) {
    int64_t *delays = trip->put_us; /* no longer needed */
    for (int64_t i = 0; i < trip->count; i++)
        delays[i] = atomic_load(&trip->delay_us[i]);
    printf("{\"items\": %" PRId64 ", \"p50_us\": %" PRId64 ", \"p99_us\": %" PRId64 "}\n", trip->count,
           samples_percentile(delays, (size_t)trip->count, 0.5),
           samples_percentile(delays, (size_t)trip->count, 0.99));
}

pawl_status workload_latency(const struct bench_options *options, pawl_error *err) {
    struct trip trip = {.count = options->samples};
    struct shift shift = {0};
    struct side *side = NULL;
    struct feed *feed = feed_create(options, 0, 1);
    pawl_error end_err = {0};
    pawl_handler handler = {.function = arrive, .self = &trip};
    trip.put_us = calloc((size_t)trip.count, sizeof(*trip.put_us));
    trip.delay_us = calloc((size_t)trip.count, sizeof(*trip.delay_us));
    pawl_status status = PAWL_OK;
    if (feed == NULL || trip.put_us == NULL || trip.delay_us == NULL)
        status = error_set(err, PAWL_NO_MEMORY, "latency", "out of memory");
    if (status == PAWL_OK)
        status = side_pawl.prepare(options, err);
    if (status == PAWL_OK)
        status = side_pawl.open(options, 0, 1, &side, err);
    if (status == PAWL_OK)
        status = shift_begin(&shift, options, PAWL_OUTBOX, &handler, err);
    if (status == PAWL_OK)
        status = shift_await_start(&shift, err);
    wait_until(clock_boot_us() + 1000000); /* it has found that there is nothing, and sleeps */
    if (status == PAWL_OK)
        status = send_all(side, feed, &trip, err);
    pawl_status ended = shift_end(&shift, &end_err);
    if (status == PAWL_OK && ended != PAWL_OK) {
        *err = end_err;
        status = ended;
    }
    if (status == PAWL_OK)
        report(&trip);
    side_pawl.close(side);
    free(trip.put_us);
    free(trip.delay_us);
    free(feed);
    return status;
}
