/* Converting deliveries from a broker to inbox messages, and rejecting bad ones. */
#include "work/broker/received.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "domain/trace.h"

/* The id of a foreign event: its own if that is a UUID, otherwise one derived from source and id, always the
 * same. */
static pawl_status received_id(const struct event *event, pawl_uuid *id, pawl_error *err) {
    if (uuid_parse(event->id, id))
        return PAWL_OK;
    struct buf text;
    uint8_t digest[SHA256_BYTES];
    buf_init(&text, 0);
    buf_append_str(&text, event->source);
    buf_append_char(&text, '\0');
    buf_append_str(&text, event->id);
    pawl_status status = buf_status(&text, "received", err);
    if (status == PAWL_OK)
        status = sha256(buf_str(&text), digest, err);
    buf_free(&text);
    if (status != PAWL_OK)
        return status;
    memcpy(id->b, digest, sizeof(id->b));
    id->b[6] = (uint8_t)((id->b[6] & 0x0f) | 0x80); /* version 8: our own derivation */
    id->b[8] = (uint8_t)((id->b[8] & 0x3f) | 0x80);
    return PAWL_OK;
}

/* Text stays as it is; other bytes become base64 with a prefix. */
static pawl_status as_text(struct arena *arena, pawl_str raw, pawl_str *text, pawl_error *err) {
    static const char mark[] = "base64:";
    if (raw.len == 0 || (utf8_valid(raw, false, NULL) && memchr(raw.ptr, '\0', raw.len) == NULL)) {
        *text = raw.len == 0 ? STR("") : raw;
        return PAWL_OK;
    }
    char *out = arena_alloc(arena, sizeof(mark) + (raw.len + 2) / 3 * 4);
    if (out == NULL)
        return error_no_memory(err, "received");
    size_t len = sizeof(mark) - 1;
    memcpy(out, mark, len);
    len += (size_t)EVP_EncodeBlock((unsigned char *)out + len, (const unsigned char *)raw.ptr, (int)raw.len);
    *text = (pawl_str){out, len};
    return PAWL_OK;
}

static pawl_status refuse(struct arena *arena, const struct transport_delivery *delivery, const char *reason,
                          struct received *out, pawl_error *err) {
    struct malformed *one = &out->malformed[out->malformed_count];
    pawl_status status = as_text(arena, delivery->raw, &one->payload, err);
    if (status == PAWL_OK)
        status = str_dup(arena, str_from(reason), &one->detail, err);
    if (status == PAWL_OK && delivery->event.id.len <= PAWL_ERROR_BYTES_MAX && delivery->event.id.len > 0)
        status = as_text(arena, delivery->event.id, &one->message_id, err);
    out->malformed_count += status == PAWL_OK;
    return status;
}

/* A tracestate without a valid traceparent is meaningless. */
static pawl_str headers_of(struct arena *arena, const struct event *event) {
    struct trace_context context;
    return trace_parse(event->traceparent, &context)
               ? trace_state_add(arena, event->headers, event->tracestate, PAWL_METADATA_BYTES_MAX)
               : event->headers;
}

static pawl_status accept(struct arena *arena, pawl_str topic, const struct event *event,
                          struct received *out, pawl_error *err) {
    pawl_outgoing *message = &out->messages[out->count];
    *message = (pawl_outgoing){.stream = event->stream,
                               .topic = topic,
                               .type = event->type,
                               .payload = event->data,
                               .headers = headers_of(arena, event),
                               .traceparent = event->traceparent};
    if (!uuid_parse(event->correlation_id, &message->correlation_id))
        message->correlation_id = uuid_nil();
    if (!uuid_parse(event->causation_id, &message->causation_id))
        message->causation_id = uuid_nil();
    pawl_status status = received_id(event, &message->id, err);
    out->count += status == PAWL_OK;
    return status;
}

pawl_status received_sort(struct arena *arena, pawl_str topic, const struct transport_delivery *deliveries,
                          size_t count, struct received *out, pawl_error *err) {
    struct received sorted = {.messages = arena_array(arena, count, sizeof(*sorted.messages)),
                              .malformed = arena_array(arena, count, sizeof(*sorted.malformed))};
    if (sorted.messages == NULL || sorted.malformed == NULL)
        return error_no_memory(err, "received");
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        const struct transport_delivery *delivery = &deliveries[i];
        const struct event *event = &delivery->event;
        if (delivery->malformed)
            status = refuse(arena, delivery, delivery->reason, &sorted, err);
        else if (event->data.len > PAWL_PAYLOAD_BYTES_MAX)
            status = refuse(arena, delivery, "the payload is larger than an inbox takes", &sorted, err);
        else if (event->traceparent.len > PAWL_TYPE_BYTES_MAX || event->headers.len > PAWL_METADATA_BYTES_MAX)
            status = refuse(arena, delivery, "an attribute is longer than an inbox takes", &sorted, err);
        else
            status = accept(arena, topic, event, &sorted, err);
    }
    if (status == PAWL_OK)
        *out = sorted;
    return status;
}
