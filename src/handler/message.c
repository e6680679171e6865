/* Converting a claimed item to the message that its handler gets. */
#include "handler/message.h"

#include <stdio.h>

#include "base/json/json.h"
#include "base/str.h"
#include "base/uuid.h"

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

static void write_text(struct json_writer *json, const char *key, pawl_str text) {
    json_key(json, key);
    json_str(json, text);
}

static void write_int(struct json_writer *json, const char *key, int64_t number) {
    json_key(json, key);
    json_int(json, number);
}

void work_message_json(struct buf *buf, const struct item *item) {
    struct json_writer json;
    char key[WORK_KEY_BYTES];
    json_writer_init(&json, buf);
    json_begin_object(&json);
    write_uuid(&json, "id", item->id);
    write_text(&json, "kind", str_from(work_kind_name(item->kind)));
    write_text(&json, "type", item->type);
    write_text(&json, "stream", item->stream);
    write_text(&json, "topic", item->topic);
    write_int(&json, "seq", item->seq);
    write_int(&json, "token", item->token);
    write_int(&json, "attempt", item->attempt);
    json_key(&json, "out_of_order");
    json_bool(&json, item->out_of_order);
    write_text(&json, "idempotency_key", str_from(work_idempotency_key(item, key)));
    write_int(&json, "sent_ms", item->put_ms);
    write_text(&json, "consumer", item->consumer);
    write_uuid(&json, "correlation_id", item->correlation_id);
    write_uuid(&json, "causation_id", item->causation_id);
    write_text(&json, "traceparent", item->traceparent);
    json_key(&json, "headers");
    json_raw(&json, item->headers);
    json_key(&json, "payload");
    json_raw(&json, item->payload);
    json_end_object(&json);
}
