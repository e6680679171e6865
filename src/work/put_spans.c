/* Sending, enqueueing and appending with a producer span. */
#include "work/put_spans.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/uuid.h"
#include "domain/trace.h"
#include "handler/message.h"

enum { ID_BYTES = UUID_TEXT_BYTES };

/* The contents of one span. */
struct told {
    const char *kind;
    pawl_str destination, type, stream;
    const char *id; /* NULL: not known */
    pawl_status status;
    enum store_answer answer; /* if the status is PAWL_OK */
    const pawl_error *err;
};

static void end(struct span *span, const struct told *told) {
    bool failed = told->status != PAWL_OK ||
                  (told->answer != ANSWER_APPLIED && told->answer != ANSWER_DUPLICATE);
    bool explained = told->status != PAWL_OK && told->err != NULL;
    pawl_str refused = failed ? STR("refused") : (pawl_str){NULL, 0};
    struct span_attribute attributes[] = {SPAN_TEXT("messaging.system", STR("pawl")),
                                          SPAN_TEXT("messaging.operation.type", STR("send")),
                                          SPAN_TEXT("messaging.operation.name", STR("put")),
                                          SPAN_TEXT("messaging.destination.name", told->destination),
                                          SPAN_TEXT("messaging.message.id", str_from(told->id)),
                                          SPAN_TEXT("pawl.kind", str_from(told->kind)),
                                          SPAN_TEXT("pawl.message.type", told->type),
                                          SPAN_TEXT("pawl.message.stream", told->stream),
                                          SPAN_TEXT("error.type", refused)};
    span_end(span,
             &(struct span_about){.kind = SPAN_PRODUCER,
                                  .operation = "put",
                                  .object = told->destination,
                                  .attributes = attributes,
                                  .attribute_count = sizeof(attributes) / sizeof(*attributes),
                                  .failed = failed,
                                  .error = explained ? str_from(told->err->text) : (pawl_str){NULL, 0}});
}

/* The spans and a copy of what is put; false: nothing is traced. */
static bool begin(const struct putter *putter, const void *items, size_t count, size_t size,
                  struct span **spans, void **copy) {
    if (putter->tracer == NULL || count == 0)
        return false;
    *spans = arena_array(putter->arena, count, sizeof(**spans));
    *copy = arena_array(putter->arena, count, size);
    if (*spans == NULL || *copy == NULL)
        return false;
    memcpy(*copy, items, count * size);
    return true;
}

static pawl_str begin_one(const struct putter *putter, struct span *span, pawl_str own) {
    span_begin(putter->tracer, str_absent(own) ? putter->parent : own, span);
    return span_traceparent(span, own);
}

/* Items without their own traceparent get the parent's tracestate. */
static pawl_str state_kept(const struct putter *putter, pawl_str own, pawl_str object) {
    struct trace_context above;
    return str_absent(own) && !str_absent(putter->state) && trace_parse(putter->parent, &above)
               ? trace_state_add(putter->arena, object, putter->state, PAWL_METADATA_BYTES_MAX)
               : object;
}

pawl_status traced_put(const struct putter *putter, const struct messages_put *in, struct put_result *out,
                       pawl_error *err) {
    struct span *spans = NULL;
    pawl_outgoing *messages = NULL;
    struct messages_put put = *in;
    bool traced = begin(putter, in->messages, in->count, sizeof(*messages), &spans, (void **)&messages);
    for (size_t i = 0; traced && i < in->count; i++) {
        messages[i].headers = state_kept(putter, messages[i].traceparent, messages[i].headers);
        messages[i].traceparent = begin_one(putter, &spans[i], messages[i].traceparent);
    }
    if (traced)
        put.messages = messages;
    pawl_status status = putter->store->ops->core.messages_put(putter->store, &put, putter->arena, out, err);
    for (size_t i = 0; traced && i < in->count; i++) {
        char id[ID_BYTES];
        const pawl_outgoing *message = &messages[i];
        struct told told = {.kind = work_kind_name(in->kind),
                            .destination = str_absent(message->topic) ? message->type : message->topic,
                            .type = message->type,
                            .stream = message->stream,
                            .id = status == PAWL_OK ? uuid_format(out->ids[i], id) : NULL,
                            .status = status,
                            .answer = status == PAWL_OK ? out->answers[i] : 0,
                            .err = err};
        end(&spans[i], &told);
    }
    return status;
}

pawl_status traced_enqueue(const struct putter *putter, const struct jobs_enqueue *in,
                           struct enqueue_result *out, pawl_error *err) {
    struct span *spans = NULL;
    struct job_new *jobs = NULL;
    struct jobs_enqueue put = *in;
    bool traced = begin(putter, in->jobs, in->count, sizeof(*jobs), &spans, (void **)&jobs);
    for (size_t i = 0; traced && i < in->count; i++)
        jobs[i].traceparent = begin_one(putter, &spans[i], jobs[i].traceparent);
    if (traced)
        put.jobs = jobs;
    pawl_status status = putter->store->ops->jobs->enqueue(putter->store, &put, putter->arena, out, err);
    for (size_t i = 0; traced && i < in->count; i++) {
        char id[ID_BYTES];
        if (status == PAWL_OK)
            snprintf(id, sizeof(id), "%lld", (long long)out->ids[i]);
        struct told told = {.kind = "job",
                            .destination = str_absent(jobs[i].queue) ? STR("default") : jobs[i].queue,
                            .type = str_absent(jobs[i].task) ? jobs[i].type : jobs[i].task,
                            .stream = jobs[i].key,
                            .id = status == PAWL_OK && out->ids[i] != 0 ? id : NULL,
                            .status = status,
                            .answer = status == PAWL_OK ? out->answers[i] : 0,
                            .err = err};
        end(&spans[i], &told);
    }
    return status;
}

pawl_status traced_append(const struct putter *putter, const struct events_append *in,
                          struct append_result *out, pawl_error *err) {
    struct span *spans = NULL;
    pawl_event *events = NULL;
    struct events_append put = *in;
    bool traced = begin(putter, in->events, in->count, sizeof(*events), &spans, (void **)&events);
    for (size_t i = 0; traced && i < in->count; i++) {
        events[i].metadata = state_kept(putter, events[i].traceparent, events[i].metadata);
        events[i].traceparent = begin_one(putter, &spans[i], events[i].traceparent);
    }
    if (traced)
        put.events = events;
    pawl_status status =
        putter->store->ops->events.events_append(putter->store, &put, putter->arena, out, err);
    for (size_t i = 0; traced && i < in->count; i++) {
        char id[ID_BYTES];
        bool appended = status == PAWL_OK && out->answer == ANSWER_APPLIED;
        struct told told = {.kind = "event",
                            .destination = events[i].type,
                            .type = events[i].type,
                            .stream = in->stream,
                            .id = appended ? uuid_format(out->ids[i], id) : NULL,
                            .status = status,
                            .answer = status == PAWL_OK ? out->answer : 0,
                            .err = err};
        end(&spans[i], &told);
    }
    return status;
}
