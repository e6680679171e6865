/* The queue of trace spans, and the thread that exports them. */
#include "telemetry/tracer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/thread.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "domain/failure/retry.h"
#include "telemetry/tracer_int.h"

enum { BODY_BYTES_MAX = 65536, HTTP_TOO_MANY = 429 };

struct tracer {
    struct arena *arena; /* of the config */
    struct tracer_config config;
    struct log log;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t news;
    char **queue; /* texts, owned; a ring */
    size_t first, count;
    struct tracer_counts counts;
    bool made, running; /* the lock; the thread */
    bool closing, gone; /* it should end; it has ended */
    int64_t close_ms;   /* boot time by which the thread has to be gone */
    stop_flag cancel;   /* the current call takes too long */
    bool failing;       /* the last batch was not accepted; used by the thread only */
};

/* ---- Sending */

static bool is_closing(struct tracer *tracer) {
    pthread_mutex_lock(&tracer->lock);
    bool closing = tracer->closing;
    pthread_mutex_unlock(&tracer->lock);
    return closing;
}

/* Waits until there are that many spans, or for wait_ms; false: it should end. */
static bool rest(struct tracer *tracer, int64_t wait_ms, size_t spans) {
    int64_t until_ms = clock_boot_ms() + wait_ms;
    pthread_mutex_lock(&tracer->lock);
    while (!tracer->closing && tracer->count < spans && clock_boot_ms() < until_ms) {
        struct timespec until = clock_monotonic_after(until_ms - clock_boot_ms());
        pthread_cond_timedwait(&tracer->news, &tracer->lock, &until);
    }
    bool closing = tracer->closing;
    pthread_mutex_unlock(&tracer->lock);
    return !closing;
}

/* OTLP names these and no others: what a collector refused with 500 it will refuse again. */
static bool is_retried(int status) {
    return status == HTTP_TOO_MANY || status == 502 || status == 503 || status == 504;
}

/* One try. *wait_ms = how long until the next; -1 = do not retry. */
static pawl_status try_once(struct tracer *tracer, struct http_client *client, pawl_str body,
                            int64_t deadline_ms, int64_t *rejected, int64_t *wait_ms, pawl_error *err) {
    struct http_response response = {.retry_after_ms = -1};
    struct arena *arena = arena_create(0);
    int64_t call_ms = clock_boot_ms() + tracer->config.call_ms;
    struct http_request request = {.url = tracer->config.url,
                                   .headers = tracer->config.headers,
                                   .header_count = tracer->config.header_count,
                                   .body = body,
                                   .deadline_ms = call_ms < deadline_ms ? call_ms : deadline_ms,
                                   .body_bytes_max = BODY_BYTES_MAX,
                                   .allow_private = true,
                                   .ca_file = tracer->config.ca_file,
                                   .cancel = &tracer->cancel};
    pawl_status status = http_call(client, &request, arena, &response, err);
    *wait_ms = status == PAWL_UNAVAILABLE ? 0 : -1;
    if (status == PAWL_OK && http_judge(response.status) != HTTP_DONE) {
        status = error_set(err, PAWL_UNAVAILABLE, "traces", "the collector answered with HTTP status %d",
                           response.status);
        *wait_ms = !is_retried(response.status)  ? -1
                   : response.retry_after_ms > 0 ? response.retry_after_ms
                                                 : 0;
    } else if (status == PAWL_OK) {
        *rejected = otlp_rejected(response.body, arena);
    }
    arena_free(arena);
    return status;
}

/* A batch with all its tries. If it is told to wait longer than its time limit, it is given up. */
static pawl_status deliver(struct tracer *tracer, struct http_client *client, pawl_str body,
                           int64_t *rejected, pawl_error *err) {
    static const struct retry_policy policy = {TRACER_RETRY_MS_FIRST, TRACER_RETRY_MS_MAX, true};
    int64_t deadline_ms = clock_boot_ms() + tracer->config.export_ms;
    for (int attempt = 1;; attempt++) {
        int64_t wait_ms = -1;
        bool closing = is_closing(tracer);
        if (closing && tracer->close_ms < deadline_ms)
            deadline_ms = tracer->close_ms;
        pawl_status status = try_once(tracer, client, body, deadline_ms, rejected, &wait_ms, err);
        if (status == PAWL_OK || wait_ms < 0 || closing)
            return status;
        int64_t own_ms = retry_wait_ms(&policy, attempt, (uint64_t)clock_boot_us() * 2654435761u);
        wait_ms = wait_ms > own_ms ? wait_ms : own_ms;
        if (clock_boot_ms() + wait_ms >= deadline_ms)
            return status;
        if (!rest(tracer, wait_ms, SIZE_MAX))
            deadline_ms = tracer->close_ms; /* one more, and quickly */
    }
}

/* Once when it begins to fail, once when it works again. */
static void tell(struct tracer *tracer, pawl_status status, const pawl_error *err) {
    bool failing = status != PAWL_OK;
    if (failing && !tracer->failing)
        log_failure(&tracer->log, LOG_LEVEL_WARN, "traces_not_exported", err);
    else if (!failing && tracer->failing)
        log_event(&tracer->log, LOG_LEVEL_INFO, "traces_exported_again", "failed=%lld",
                  (long long)tracer_counts(tracer).failed);
    tracer->failing = failing;
}

static size_t take(struct tracer *tracer, char **texts) {
    size_t taken = 0;
    pthread_mutex_lock(&tracer->lock);
    while (tracer->count > 0 && taken < (size_t)tracer->config.batch_max) {
        texts[taken++] = tracer->queue[tracer->first];
        tracer->first = (tracer->first + 1) % (size_t)tracer->config.queue_max;
        tracer->count--;
    }
    pthread_mutex_unlock(&tracer->lock);
    return taken;
}

/* Everything that is in the queue, batch by batch. */
static void send_all(struct tracer *tracer, struct http_client *client, char **texts) {
    size_t count;
    while ((count = take(tracer, texts)) > 0) {
        struct buf body;
        pawl_error err = {0};
        int64_t rejected = 0;
        buf_init(&body, 0);
        otlp_envelope_begin(&body, tracer->config.resource);
        for (size_t i = 0; i < count; i++) {
            if (i > 0)
                buf_append_char(&body, ',');
            buf_append_cstr(&body, texts[i]);
            free(texts[i]);
        }
        otlp_envelope_end(&body);
        pawl_status status = buf_status(&body, "traces", &err);
        if (status == PAWL_OK)
            status = deliver(tracer, client, buf_str(&body), &rejected, &err);
        buf_free(&body);
        if (status != PAWL_OK)
            rejected = (int64_t)count;
        pthread_mutex_lock(&tracer->lock);
        tracer->counts.failed += rejected;
        tracer->counts.exported += (int64_t)count - rejected;
        pthread_mutex_unlock(&tracer->lock);
        tell(tracer, status, &err);
        if (is_closing(tracer) && status != PAWL_OK)
            return; /* if this one was not accepted, the next will not be either */
    }
}

static void *tracer_main(void *self) {
    struct tracer *tracer = self;
    struct http_client *client = NULL;
    pawl_error err;
    char **texts = calloc((size_t)tracer->config.batch_max, sizeof(*texts));
    pawl_status status = http_client_create(&client, &err);
    bool closing = texts == NULL || status != PAWL_OK;
    while (!closing) {
        closing = !rest(tracer, tracer->config.delay_ms, (size_t)tracer->config.batch_max);
        send_all(tracer, client, texts);
    }
    http_client_free(client);
    free(texts);
    pthread_mutex_lock(&tracer->lock);
    tracer->gone = true;
    pthread_cond_broadcast(&tracer->news);
    pthread_mutex_unlock(&tracer->lock);
    return NULL;
}

/* ---- Opening and closing */

void tracer_free(struct tracer *tracer) {
    if (tracer == NULL)
        return;
    tracer_stop(tracer);
    for (size_t i = 0; tracer->queue != NULL && i < tracer->count; i++)
        free(tracer->queue[(tracer->first + i) % (size_t)tracer->config.queue_max]);
    free(tracer->queue);
    arena_free(tracer->arena);
    if (tracer->made) {
        pthread_mutex_destroy(&tracer->lock);
        pthread_cond_destroy(&tracer->news);
    }
    free(tracer);
}

struct tracer *tracer_open(const char *service, const struct log *log) {
    struct log own = log != NULL ? *log : (struct log){.level = LOG_LEVEL_OFF};
    struct tracer *tracer = calloc(1, sizeof(*tracer));
    if (tracer != NULL)
        tracer->arena = arena_create(0);
    if (tracer == NULL || tracer->arena == NULL ||
        !tracer_config_read(service, tracer->arena, &own, &tracer->config)) {
        tracer_free(tracer);
        return NULL;
    }
    tracer->log = own;
    tracer->queue = calloc((size_t)tracer->config.queue_max, sizeof(*tracer->queue));
    pthread_mutex_init(&tracer->lock, NULL);
    thread_cond_init(&tracer->news);
    tracer->made = true;
    int code = tracer->queue != NULL ? thread_start(&tracer->thread, tracer_main, tracer) : ENOMEM;
    tracer->running = code == 0;
    if (code != 0) {
        log_event(&own, LOG_LEVEL_WARN, "traces_off", "errno=%d", code);
        tracer_free(tracer);
        return NULL;
    }
    log_event(&own, LOG_LEVEL_INFO, "traces", "endpoint=%s queue=%lld batch=%lld", tracer->config.url,
              (long long)tracer->config.queue_max, (long long)tracer->config.batch_max);
    return tracer;
}

/* The current call may have started with more time than is left now. */
void tracer_stop(struct tracer *tracer) {
    if (tracer == NULL || !tracer->running)
        return;
    pthread_mutex_lock(&tracer->lock);
    tracer->close_ms = clock_boot_ms() + TRACER_CLOSE_MS;
    tracer->closing = true;
    pthread_cond_broadcast(&tracer->news);
    while (!tracer->gone && clock_boot_ms() < tracer->close_ms) {
        struct timespec until = clock_monotonic_after(tracer->close_ms - clock_boot_ms());
        pthread_cond_timedwait(&tracer->news, &tracer->lock, &until);
    }
    pthread_mutex_unlock(&tracer->lock);
    stop_set(&tracer->cancel, STOP_TIMEOUT);
    pthread_join(tracer->thread, NULL);
    tracer->running = false;
    pthread_mutex_lock(&tracer->lock);
    tracer->counts.failed += (int64_t)tracer->count;
    struct tracer_counts counts = tracer->counts;
    pthread_mutex_unlock(&tracer->lock);
    log_event(&tracer->log, LOG_LEVEL_INFO, "traces_ended", "exported=%lld dropped=%lld failed=%lld",
              (long long)counts.exported, (long long)counts.dropped, (long long)counts.failed);
}

struct tracer_counts tracer_counts(struct tracer *tracer) {
    struct tracer_counts counts = {0};
    if (tracer == NULL)
        return counts;
    pthread_mutex_lock(&tracer->lock);
    counts = tracer->counts;
    pthread_mutex_unlock(&tracer->lock);
    return counts;
}

/* ---- Spans */

void span_begin(struct tracer *tracer, pawl_str parent, struct span *span) {
    struct trace_context above;
    span->tracer = tracer;
    if (tracer == NULL)
        return;
    *span = (struct span){.tracer = tracer, .has_parent = trace_parse(parent, &above)};
    uint8_t drawn[TRACE_ID_BYTES + SPAN_ID_BYTES];
    if (random_bytes(drawn, sizeof(drawn), NULL) != PAWL_OK) {
        span->tracer = NULL;
        return;
    }
    memcpy(span->context.span_id, drawn + TRACE_ID_BYTES, SPAN_ID_BYTES);
    if (span->has_parent) {
        memcpy(span->context.trace_id, above.trace_id, TRACE_ID_BYTES);
        memcpy(span->parent_id, above.span_id, SPAN_ID_BYTES);
    } else {
        memcpy(span->context.trace_id, drawn, TRACE_ID_BYTES);
    }
    span->recorded =
        trace_sampled(&tracer->config.sampler, span->has_parent ? &above : NULL, span->context.trace_id);
    span->context.flags = span->recorded ? TRACE_SAMPLED : 0;
    trace_format(&span->context, span->traceparent);
    span->boot_us = clock_boot_us();
    span->wall_us = clock_wall_us();
}

pawl_str span_traceparent(const struct span *span, pawl_str otherwise) {
    return span->tracer != NULL ? (pawl_str){span->traceparent, TRACEPARENT_BYTES - 1} : otherwise;
}

/* Whether there is no room for another; then it is counted as dropped. The lock is held. */
static bool is_full(struct tracer *tracer) {
    bool full = tracer->count == (size_t)tracer->config.queue_max || tracer->closing;
    tracer->counts.dropped += full;
    return full;
}

void span_end(struct span *span, const struct span_about *about) {
    struct tracer *tracer = span->tracer;
    struct buf text;
    if (tracer == NULL || !span->recorded)
        return;
    int64_t took_us = clock_boot_us() - span->boot_us;
    pthread_mutex_lock(&tracer->lock);
    bool full = is_full(tracer);
    pthread_mutex_unlock(&tracer->lock);
    if (full)
        return;
    buf_init(&text, 0);
    otlp_span(&text, span, about, took_us);
    pthread_mutex_lock(&tracer->lock);
    bool kept = !text.failed && !is_full(tracer);
    if (kept) {
        tracer->queue[(tracer->first + tracer->count++) % (size_t)tracer->config.queue_max] = text.ptr;
        if (tracer->count >= (size_t)tracer->config.batch_max)
            pthread_cond_signal(&tracer->news);
    }
    pthread_mutex_unlock(&tracer->lock);
    if (!kept)
        buf_free(&text); /* else the queue owns its memory */
}
