/* What a handler gets of a claimed item: a message in C or JSON, or environment variables. */
#include "handler/message.h"

#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "domain/trace.h"

pawl_message work_message(const struct item *item) {
    return (pawl_message){
        .kind = (pawl_kind)item->kind,
        .id = item->id,
        .seq = item->seq,
        .token = item->token,
        .attempt = item->attempt,
        .out_of_order = item->out_of_order,
        .stream = item->stream,
        .topic = item->topic,
        .type = item->type,
        .payload = item->payload,
        .headers = item->headers,
        .traceparent = item->traceparent,
        .consumer = item->consumer,
        .correlation_id = item->correlation_id,
        .causation_id = item->causation_id,
        .sent_ms = item->put_ms,
    };
}

const char *work_kind_name(enum store_kind kind) {
    switch (kind) {
    case KIND_OUTBOX:
        return "outbox";
    case KIND_INBOX:
        return "inbox";
    case KIND_PERSPECTIVE:
        return "perspective";
    }
    return "?";
}

char *work_idempotency_key(const struct item *item, char text[static WORK_KEY_BYTES]) {
    char id[UUID_TEXT_BYTES];
    snprintf(text, WORK_KEY_BYTES, "%s:%lld", uuid_format(item->id, id), (long long)item->seq);
    return text;
}

static void write_uuid(struct json_writer *json, const char *key, pawl_uuid id) {
    char text[UUID_TEXT_BYTES];
    json_key(json, key);
    if (uuid_is_nil(id))
        json_null(json);
    else
        json_cstr(json, uuid_format(id, text));
}

void work_message_json(struct buf *buf, const struct item *item) {
    struct json_writer json;
    char key[WORK_KEY_BYTES];
    json_writer_init(&json, buf);
    json_begin_object(&json);
    write_uuid(&json, "id", item->id);
    json_put_str(&json, "kind", str_from(work_kind_name(item->kind)));
    json_put_str(&json, "type", item->type);
    json_put_str(&json, "stream", item->stream);
    json_put_str(&json, "topic", item->topic);
    json_put_int(&json, "seq", item->seq);
    json_put_int(&json, "token", item->token);
    json_put_int(&json, "attempt", item->attempt);
    json_put_bool(&json, "out_of_order", item->out_of_order);
    json_put_str(&json, "idempotency_key", str_from(work_idempotency_key(item, key)));
    json_put_int(&json, "sent_ms", item->put_ms);
    json_put_str(&json, "consumer", item->consumer);
    write_uuid(&json, "correlation_id", item->correlation_id);
    write_uuid(&json, "causation_id", item->causation_id);
    json_put_str(&json, "traceparent", item->traceparent);
    json_put_raw(&json, "headers", item->headers);
    json_put_raw(&json, "payload", item->payload);
    json_end_object(&json);
}

static const char *copy_text(struct arena *arena, pawl_str value) {
    return !str_absent(value) ? arena_copy(arena, value.ptr, value.len) : NULL;
}

size_t environment_pairs(const struct item *item, struct arena *arena,
                         struct environment_pair pairs[static ENVIRONMENT_PAIRS_MAX]) {
    char id[UUID_TEXT_BYTES], key[WORK_KEY_BYTES], state[TRACESTATE_BYTES];
    const struct environment_pair made[] = {
        {"PAWL_ID", arena_strdup(arena, uuid_format(item->id, id))},
        {"PAWL_KIND", work_kind_name(item->kind)},
        {"PAWL_TYPE", copy_text(arena, item->type)},
        {"PAWL_STREAM", copy_text(arena, item->stream)},
        {"PAWL_TOPIC", copy_text(arena, item->topic)},
        {"PAWL_SEQ", arena_printf(arena, "%lld", (long long)item->seq)},
        {"PAWL_ATTEMPT", arena_printf(arena, "%d", item->attempt)},
        {"PAWL_TOKEN", arena_printf(arena, "%lld", (long long)item->token)},
        {"PAWL_IDEMPOTENCY_KEY", arena_strdup(arena, work_idempotency_key(item, key))},
        {"PAWL_TRACEPARENT", copy_text(arena, item->traceparent)},
        {"TRACEPARENT", copy_text(arena, item->traceparent)},
        {"TRACESTATE", copy_text(arena, trace_state_read(item->traceparent, item->headers, state))},
    };
    memcpy(pairs, made, sizeof(made));
    return sizeof(made) / sizeof(*made);
}

enum { SNOOZE_MS_DEFAULT = 1000 };

void function_call(const struct handler *handler, const struct item *item, const void *run,
                   struct handler_verdict *verdict) {
    pawl_result result;
    result.retry_after_ms = -1;
    result.error[0] = '\0';
    pawl_message message = work_message(item);
    message.run = run;
    verdict->error[0] = '\0';
    switch (handler->function(&message, &result, handler->self)) {
    case PAWL_DONE:
        verdict->outcome = HANDLED_DONE;
        return;
    case PAWL_SNOOZE:
        verdict->outcome = HANDLED_SNOOZE;
        verdict->delay_ms = result.retry_after_ms > 0 ? result.retry_after_ms : SNOOZE_MS_DEFAULT;
        return;
    case PAWL_REJECT:
        verdict->outcome = HANDLED_PERMANENT;
        break;
    default:
        verdict->outcome = HANDLED_RETRY;
        break;
    }
    verdict->delay_ms = result.retry_after_ms;
    result.error[sizeof(result.error) - 1] = '\0';
    const char *why = result.error[0] != '\0' ? result.error : "the handler gave no reason";
    memcpy(verdict->error, why, strlen(why) + 1);
}

bool pawl_cancelled(const pawl_message *message) {
    const struct run_handle *handle = message->run;
    return handle != NULL &&
           (atomic_load_explicit(&handle->cancel, memory_order_relaxed) ||
            (handle->asked != NULL && atomic_load_explicit(handle->asked, memory_order_relaxed)));
}

bool pawl_progress(const pawl_message *message, pawl_str progress) {
    struct run_handle *handle = (struct run_handle *)message->run;
    if (handle == NULL || handle->progress == NULL || progress.len > PAWL_METADATA_BYTES_MAX ||
        !json_valid(progress, PAWL_JSON_DEPTH_MAX, NULL))
        return false;
    return handle->progress(handle, progress);
}

int64_t run_handle_elapsed_ms(const pawl_message *message) {
    const struct run_handle *handle = message->run;
    return handle != NULL && handle->began_us > 0 ? (clock_boot_us() - handle->began_us) / 1000 : 0;
}
