/* Runs a worker beside the measuring thread. */
#include "shift.h"

#include <time.h>

#include "base/error.h"

enum { NAP_NS = 1000000, LOG_ERROR = 3 };

static void log_line(void *self, int level, const char *line) {
    (void)self;
    if (level >= LOG_ERROR)
        fprintf(stderr, "pawl-bench: worker: %s\n", line);
}

static void *run(void *arg) {
    struct shift *shift = arg;
    bool forced = false;
    shift->status = pawl_worker_run(shift->worker, &forced, &shift->err);
    atomic_store(&shift->ended, true);
    return NULL;
}

pawl_status shift_begin(struct shift *shift, const struct bench_options *options, pawl_kind kind,
                        const pawl_handler *handler, pawl_error *err) {
    pawl_worker_config config = {
        .store = {.url = options->url, .durability_normal = !options->durable},
        .service = "bench",
        .outbox = kind == PAWL_OUTBOX && handler != NULL && !shift->everything,
        .jobs = kind == PAWL_JOB,
        .perspectives = handler == NULL,
        .concurrency = options->threads,
        .batch = options->batch,
        .on_log = log_line,
        .log_level = LOG_ERROR,
    };
    pawl_status status = pawl_worker_create(&config, &shift->worker, err);
    if (status == PAWL_OK && options->transports != NULL)
        status = pawl_worker_transports(shift->worker, options->transports, err);
    else if (status == PAWL_OK && handler != NULL)
        status = pawl_worker_on(shift->worker, "*", handler, err);
    if (status == PAWL_OK && pthread_create(&shift->thread, NULL, run, shift) != 0)
        status = error_set(err, PAWL_NO_MEMORY, "worker", "no thread");
    shift->running = status == PAWL_OK;
    return status;
}

pawl_status shift_end(struct shift *shift, pawl_error *err) {
    pawl_status status = PAWL_OK;
    if (shift->running) {
        pawl_worker_stop(shift->worker);
        pthread_join(shift->thread, NULL);
        status = shift->status;
        if (status != PAWL_OK)
            *err = shift->err;
    }
    pawl_worker_free(shift->worker);
    *shift = (struct shift){0};
    return status;
}

int64_t shift_completed(struct shift *shift) {
    pawl_metrics metrics;
    pawl_worker_metrics(shift->worker, &metrics);
    return metrics.completed + metrics.jobs.succeeded;
}

pawl_status shift_await_start(struct shift *shift, pawl_error *err) {
    pawl_metrics metrics = {0};
    for (; metrics.batches == 0; pawl_worker_metrics(shift->worker, &metrics)) {
        if (atomic_load(&shift->ended))
            return error_set(err, PAWL_INTERNAL, "worker", "it ended before it started: %s", shift->err.text);
        shift_nap();
    }
    return PAWL_OK;
}

void shift_nap(void) { nanosleep(&(struct timespec){0, NAP_NS}, NULL); }
