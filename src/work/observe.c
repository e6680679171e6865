/* Measuring work: durations, spans, and the log of failed attempts. */
#include "work/observe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "handler/message.h"
#include "store/store.h"

enum { JOB_ID_BYTES = 24, FAILURES_WINDOW_MS = 1000, FAILURES_TOLD_MAX = 10 };

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

void observe_clock(struct observer *observer, int64_t store_now_ms) {
    if (observer != NULL && store_now_ms != 0)
        atomic_store_explicit(&observer->ahead_ms, store_now_ms - clock_boot_ms(), memory_order_relaxed);
}

/* Up to now_us, by the boot clock, which the caller has already read; false: the store's clock is not known.
 */
static bool note_wait(struct observer *observer, enum rollup_kind kind, int64_t since_ms, int64_t now_us,
                      int64_t *waited_us) {
    int64_t ahead_ms = atomic_load_explicit(&observer->ahead_ms, memory_order_relaxed);
    *waited_us = now_us + (ahead_ms - since_ms) * 1000;
    if (ahead_ms != 0)
        rollups_add_time(&observer->rollups, (struct rollup_series){ROLLUP_WAIT, kind, ROLLUP_DONE},
                         *waited_us);
    return ahead_ms != 0;
}

static struct series_name handler_of(enum rollup_kind kind, pawl_str name) {
    return (struct series_name){SERIES_HANDLER, (int)kind, name};
}

static struct series_name task_of(enum rollup_kind kind, const struct job *job) {
    return handler_of(kind, str_absent(job->task) ? job->type : job->task);
}

static struct series_name queue_of(const struct job *job) {
    return (struct series_name){SERIES_QUEUE, ROLLUP_JOB, job->queue};
}

void observe_wait(struct observer *observer, enum rollup_kind kind, int64_t since_ms) {
    int64_t waited_us;
    if (observer != NULL)
        (void)note_wait(observer, kind, since_ms, clock_boot_us(), &waited_us);
}

void observe_handled(struct observer *observer, enum rollup_kind kind, enum rollup_result result,
                     int64_t took_us) {
    rollups_add_time(&observer->rollups, (struct rollup_series){ROLLUP_HANDLE, kind, result}, took_us);
}

enum rollup_result observe_outcome(enum handler_outcome outcome) {
    switch (outcome) {
    case HANDLED_DONE:
        return ROLLUP_DONE;
    case HANDLED_RETRY:
        return ROLLUP_RETRY;
    case HANDLED_PERMANENT:
        return ROLLUP_PERMANENT;
    case HANDLED_NOT_RUN:
    case HANDLED_SNOOZE:
        break;
    }
    return ROLLUP_OTHER;
}

/* The first things a person wants to know about a failing handler. */
struct failure {
    const char *kind, *id;
    pawl_str type, error;
    int attempt;
    enum rollup_result result;
};

static void tell_failure(struct observer *observer, const struct failure *failure) {
    int64_t now_ms = clock_boot_ms(), since_ms = atomic_load(&observer->failures_since_ms);
    if (now_ms - since_ms >= FAILURES_WINDOW_MS &&
        atomic_compare_exchange_strong(&observer->failures_since_ms, &since_ms, now_ms)) {
        int64_t before = atomic_exchange(&observer->failures, 0);
        if (before > FAILURES_TOLD_MAX)
            log_event(observer->log, LOG_LEVEL_WARN, "failures_left_out", "count=%lld",
                      (long long)(before - FAILURES_TOLD_MAX));
    }
    if (atomic_fetch_add(&observer->failures, 1) < FAILURES_TOLD_MAX)
        log_event(observer->log, LOG_LEVEL_WARN, "attempt_failed",
                  "kind=%s id=%s type=%.*s attempt=%d result=%s error=%.*s", failure->kind, failure->id,
                  STR_ARG(failure->type), failure->attempt, rollup_result_name(failure->result),
                  STR_ARG(failure->error));
}

static bool is_failure(enum rollup_result result) {
    return result == ROLLUP_RETRY || result == ROLLUP_PERMANENT;
}

/* ---- Messages */

const struct item *observe_message(struct observer *observer, const struct item *item,
                                   struct observed *work) {
    work->began_us = 0;
    if (observer == NULL)
        return item;
    work->began_us = clock_boot_us();
    work->item.kind = item->kind;
    work->id = item->id;
    work->attempt = item->attempt;
    size_t len = item->type.len < sizeof(work->type) - 1 ? item->type.len : sizeof(work->type) - 1;
    if (len > 0)
        memcpy(work->type, item->type.ptr, len);
    work->type[len] = '\0';
    /* A retry waited for its time, not for a worker. */
    struct series_name handler = handler_of((enum rollup_kind)item->kind, str_from(work->type));
    int64_t waited_us;
    if (item->attempt <= 1 &&
        note_wait(observer, (enum rollup_kind)item->kind, item->put_ms, work->began_us, &waited_us))
        series_waited(&observer->series, &handler, waited_us);
    span_begin(observer->tracer, item->traceparent, &work->span);
    if (work->span.tracer == NULL)
        return item;
    work->item = *item;
    work->item.traceparent = span_traceparent(&work->span, item->traceparent);
    return &work->item;
}

static pawl_str uuid_or_none(pawl_uuid id, char text[static UUID_TEXT_BYTES]) {
    return uuid_is_nil(id) ? (pawl_str){NULL, 0} : str_from(uuid_format(id, text));
}

static pawl_str error_type(enum rollup_result result) {
    return is_failure(result) ? str_from(rollup_result_name(result)) : (pawl_str){NULL, 0};
}

static void end_message_span(struct observed *work, const struct observed_end *end) {
    const struct item *item = &work->item;
    char id[UUID_TEXT_BYTES], correlation[UUID_TEXT_BYTES];
    bool sent = end->system != NULL;
    pawl_str place = sent ? end->destination : !str_absent(item->topic) ? item->topic : item->type;
    struct span_attribute attributes[] = {
        SPAN_TEXT("messaging.system", str_from(sent ? end->system : "pawl")),
        SPAN_TEXT("messaging.operation.type", sent ? STR("send") : STR("process")),
        SPAN_TEXT("messaging.operation.name", sent ? STR("publish") : STR("handle")),
        SPAN_TEXT("messaging.destination.name", place),
        SPAN_TEXT("messaging.message.id", uuid_or_none(item->id, id)),
        SPAN_TEXT("messaging.message.conversation_id", uuid_or_none(item->correlation_id, correlation)),
        SPAN_NUMBER("messaging.message.body.size", (int64_t)item->payload.len),
        SPAN_TEXT("messaging.consumer.group.name", item->consumer),
        SPAN_TEXT("pawl.kind", str_from(work_kind_name(item->kind))),
        SPAN_TEXT("pawl.message.type", item->type),
        SPAN_TEXT("pawl.message.stream", item->stream),
        SPAN_NUMBER("pawl.attempt", item->attempt),
        SPAN_TEXT("pawl.result", str_from(rollup_result_name(end->result))),
        SPAN_TEXT("error.type", error_type(end->result))};
    span_end(&work->span, &(struct span_about){.kind = sent ? SPAN_PRODUCER : SPAN_CONSUMER,
                                               .operation = sent ? "publish" : "handle",
                                               .object = place,
                                               .attributes = attributes,
                                               .attribute_count = COUNT(attributes),
                                               .failed = !str_absent(error_type(end->result)),
                                               .error = end->error});
}

void observe_message_end(struct observer *observer, struct observed *work, const struct observed_end *end) {
    if (observer == NULL || work->began_us == 0)
        return;
    char id[UUID_TEXT_BYTES];
    struct series_name handler = handler_of((enum rollup_kind)work->item.kind, str_from(work->type));
    int64_t took_us = clock_boot_us() - work->began_us;
    series_handled(&observer->series, &handler, end->result, took_us);
    observe_handled(observer, (enum rollup_kind)work->item.kind, end->result, took_us);
    work->began_us = 0;
    if (is_failure(end->result))
        tell_failure(observer, &(struct failure){.kind = work_kind_name(work->item.kind),
                                                 .id = uuid_format(work->id, id),
                                                 .type = str_from(work->type),
                                                 .error = end->error,
                                                 .attempt = work->attempt,
                                                 .result = end->result});
    if (work->span.tracer != NULL)
        end_message_span(work, end);
}

/* ---- Jobs */

const struct job *observe_job(struct observer *observer, const struct job *job, enum rollup_kind kind,
                              struct observed_job *work) {
    work->began_us = 0;
    if (observer == NULL)
        return job;
    work->began_us = clock_boot_us();
    work->kind = kind;
    work->given = job;
    struct series_name task = task_of(kind, job), queue = queue_of(job);
    int64_t waited_us;
    if (job->attempts <= 1 && note_wait(observer, kind, job->due_ms > job->put_ms ? job->due_ms : job->put_ms,
                                        work->began_us, &waited_us)) {
        series_waited(&observer->series, &task, waited_us);
        series_waited(&observer->series, &queue, waited_us);
    }
    span_begin(observer->tracer, job->traceparent, &work->span);
    if (work->span.tracer == NULL)
        return job;
    work->job = *job;
    work->job.traceparent = span_traceparent(&work->span, job->traceparent);
    return &work->job;
}

void observe_job_end(struct observer *observer, struct observed_job *work, enum rollup_result result,
                     pawl_str error) {
    if (observer == NULL || work->began_us == 0)
        return;
    const struct job *job = work->given;
    struct series_name task = task_of(work->kind, job), queue = queue_of(job);
    int64_t took_us = clock_boot_us() - work->began_us;
    series_handled(&observer->series, &task, result, took_us);
    series_handled(&observer->series, &queue, result, took_us);
    observe_handled(observer, work->kind, result, took_us);
    if (!is_failure(result) && work->span.tracer == NULL)
        return;
    char id[JOB_ID_BYTES];
    snprintf(id, sizeof(id), "%lld", (long long)job->id);
    if (is_failure(result))
        tell_failure(observer, &(struct failure){.kind = rollup_kind_name(work->kind),
                                                 .id = id,
                                                 .type = job->type,
                                                 .error = error,
                                                 .attempt = job->attempts,
                                                 .result = result});
    if (work->span.tracer == NULL)
        return;
    struct span_attribute attributes[] = {
        SPAN_TEXT("messaging.system", STR("pawl")),
        SPAN_TEXT("messaging.operation.type", STR("process")),
        SPAN_TEXT("messaging.operation.name", STR("run")),
        SPAN_TEXT("messaging.destination.name", job->queue),
        SPAN_TEXT("messaging.message.id", str_from(id)),
        SPAN_NUMBER("messaging.message.body.size", (int64_t)job->payload.len),
        SPAN_TEXT("pawl.kind", str_from(rollup_kind_name(work->kind))),
        SPAN_TEXT("pawl.job.type", job->type),
        SPAN_TEXT("pawl.job.task", job->task),
        SPAN_TEXT("pawl.job.key", job->key),
        SPAN_NUMBER("pawl.attempt", job->attempts),
        SPAN_TEXT("pawl.result", str_from(rollup_result_name(result))),
        SPAN_TEXT("error.type", error_type(result))};
    span_end(&work->span, &(struct span_about){.kind = SPAN_CONSUMER,
                                               .operation = "run",
                                               .object = job->queue,
                                               .attributes = attributes,
                                               .attribute_count = COUNT(attributes),
                                               .failed = !str_absent(error_type(result)),
                                               .error = error});
}

/* ---- Perspectives */

void observe_batch(struct observer *observer, pawl_str parent, struct observed_batch *work) {
    work->began_us = 0;
    if (observer == NULL)
        return;
    work->began_us = clock_boot_us();
    span_begin(observer->tracer, parent, &work->span);
}

bool observe_batch_traced(const struct observer *observer, const struct observed_batch *work) {
    return observer != NULL && work->span.tracer != NULL && work->span.recorded;
}

void observe_batch_end(struct observer *observer, struct observed_batch *work,
                       const struct observed_batch_end *end) {
    if (observer == NULL || work->began_us == 0)
        return;
    enum rollup_result result = end->failed ? ROLLUP_RETRY : ROLLUP_DONE;
    struct series_name handler = handler_of(ROLLUP_PERSPECTIVE, end->perspective);
    int64_t took_us = clock_boot_us() - work->began_us;
    series_handled(&observer->series, &handler, result, took_us);
    observe_handled(observer, ROLLUP_PERSPECTIVE, result, took_us);
    struct span_attribute attributes[] = {SPAN_TEXT("messaging.system", STR("pawl")),
                                          SPAN_TEXT("messaging.operation.type", STR("process")),
                                          SPAN_TEXT("messaging.operation.name", STR("apply")),
                                          SPAN_TEXT("messaging.destination.name", end->perspective),
                                          SPAN_NUMBER("messaging.batch.message_count", end->events),
                                          SPAN_NUMBER("pawl.perspective.streams", end->streams),
                                          SPAN_TEXT("pawl.kind", STR("perspective")),
                                          SPAN_TEXT("error.type", error_type(result))};
    span_end(&work->span, &(struct span_about){.kind = SPAN_CONSUMER,
                                               .operation = "apply",
                                               .object = end->perspective,
                                               .attributes = attributes,
                                               .attribute_count = COUNT(attributes),
                                               .links = end->links,
                                               .link_count = end->link_count,
                                               .failed = end->failed,
                                               .error = end->error});
}

/* ---- Claims, and what goes to the store */

void observe_claim(struct observer *observer, enum rollup_kind kind, int64_t took_us, bool ok, size_t count) {
    if (observer == NULL)
        return;
    enum rollup_result result = !ok ? ROLLUP_RETRY : count > 0 ? ROLLUP_DONE : ROLLUP_EMPTY;
    rollups_add_time(&observer->rollups, (struct rollup_series){ROLLUP_CLAIM, kind, result}, took_us);
}

static void count_spans(struct observer *observer) {
    struct tracer_counts now = tracer_counts(observer->tracer);
    const struct {
        enum rollup_result result;
        int64_t count;
    } grown[] = {{ROLLUP_DONE, now.exported - observer->told.exported},
                 {ROLLUP_RETRY, now.failed - observer->told.failed},
                 {ROLLUP_OTHER, now.dropped - observer->told.dropped}};
    for (size_t i = 0; i < COUNT(grown); i++)
        if (grown[i].count > 0)
            rollups_add_count(&observer->rollups,
                              (struct rollup_series){ROLLUP_SPANS, ROLLUP_MESSAGES, grown[i].result},
                              grown[i].count);
    observer->told = now;
}

pawl_status observe_pass_on(struct observer *observer, struct store *store, pawl_error *err) {
    enum { POINTS_MAX = 2 + SERIES_SUMS_MAX + ROLLUP_KINDS };
    struct rollup_cell *cells = malloc(ROLLUP_CELLS_MAX * sizeof(*cells));
    struct series_point *points = malloc(POINTS_MAX * sizeof(*points));
    pawl_status status = PAWL_OK;
    if (cells == NULL || points == NULL) {
        status = error_no_memory(err, "rollups");
        goto done;
    }
    count_spans(observer);
    size_t count = rollups_take(&observer->rollups, cells), named = series_take(&observer->series, points);
    struct rollups_new added = {cells, count, points, named + series_of_kinds(cells, count, points + named)};
    if (count > 0 || added.point_count > 0)
        status = store->ops->core.rollups_add(store, &added, err);
    if (status != PAWL_OK && status != PAWL_UNKNOWN) {
        rollups_put_back(&observer->rollups, cells, count);
        series_put_back(&observer->series, points, named);
    }
done:
    free(points);
    free(cells);
    return status;
}
