/* Receptors on events, shared by the stores: checking input, turning an event into a message. */
#include "store/event_receptors.h"

#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/check/place.h"
#include "store/events.h"

static bool name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

pawl_status check_receptor_name(const char *op, pawl_str name, pawl_error *err) {
    struct place at = {.op = op, .err = err};
    bool good = !str_absent(name) && name.len >= 1 && name.len <= PAWL_RECEPTOR_NAME_BYTES_MAX;
    for (size_t i = 0; good && i < name.len; i++)
        good = name_character(name.ptr[i]);
    return good ? PAWL_OK
                : place_wrong(&at,
                              "the name of a receptor has 1 to %d letters, digits, dots, dashes and "
                              "underscores; \"%.*s\" is none",
                              PAWL_RECEPTOR_NAME_BYTES_MAX, name.len < 128 ? (int)name.len : 128,
                              str_absent(name) ? "" : name.ptr);
}

pawl_status check_receptor(const struct receptor_new *in, pawl_error *err) {
    struct place at = {.op = "receptor_register", .err = err};
    bool wants = false;
    TRY(check_receptor_name(at.op, in->name, err));
    if (in->pattern_count < 1 || in->pattern_count > PAWL_PATTERNS_MAX || in->patterns == NULL)
        return place_wrong(&at, "%zu patterns; from 1 to %d say which events the receptor gets",
                           in->pattern_count, PAWL_PATTERNS_MAX);
    for (size_t i = 0; i < in->pattern_count; i++)
        TRY(event_pattern_matches(&in->patterns[i], STR("a"), &wants, err));
    return PAWL_OK;
}

pawl_status check_feed(const struct receptors_feed *in, pawl_error *err) {
    struct place at = {.op = "receptors_feed", .err = err};
    if (in->count < 1 || in->count > PAWL_RECEPTORS_MAX || in->names == NULL)
        return place_wrong(&at, "%zu receptors in one call; from 1 to %d are allowed", in->count,
                           PAWL_RECEPTORS_MAX);
    TRY(check_limit(at.op, in->limit, err));
    for (size_t i = 0; i < in->count; i++) {
        TRY(check_receptor_name(at.op, in->names[i], err));
        for (size_t k = 0; k < i; k++) {
            if (str_equal(in->names[k], in->names[i]))
                return place_wrong(&at, "receptor %.*s appears twice in the call", STR_ARG(in->names[i]));
        }
    }
    return PAWL_OK;
}

pawl_status receptor_consumer(struct arena *arena, pawl_str name, pawl_str *consumer, pawl_error *err) {
    *consumer = str_from(arena_printf(arena, EVENT_RECEPTOR_PREFIX "%.*s", STR_ARG(name)));
    return !str_absent(*consumer) ? PAWL_OK
                                  : error_set(err, PAWL_NO_MEMORY, "receptor", "no memory for a name");
}

bool receptor_of_consumer(pawl_str consumer, pawl_str *name) {
    const pawl_str prefix = STR(EVENT_RECEPTOR_PREFIX);
    if (str_absent(consumer) || !str_starts_with(consumer, prefix))
        return false;
    *name = (pawl_str){consumer.ptr + prefix.len, consumer.len - prefix.len};
    return true;
}

/* The event's time, then a hash of event and receptor: always the same, different for each receptor, and
 * close to its neighbours in an index. Marked as version 8 (custom). */
static pawl_status message_id(pawl_uuid event, pawl_str name, struct arena *arena, pawl_uuid *id,
                              pawl_error *err) {
    char text[UUID_TEXT_BYTES];
    uint8_t digest[SHA256_BYTES];
    const char *both = arena_printf(arena, "%s/%.*s", uuid_format(event, text), STR_ARG(name));
    if (both == NULL)
        return error_set(err, PAWL_NO_MEMORY, "receptor", "no memory for an id");
    TRY(sha256(str_from(both), digest, err));
    memcpy(id->b, event.b, 6);
    memcpy(id->b + 6, digest, 10);
    id->b[6] = (uint8_t)((id->b[6] & 0x0f) | 0x80);
    id->b[8] = (uint8_t)((id->b[8] & 0x3f) | 0x80);
    return PAWL_OK;
}

/* The event's stream, version and metadata. Metadata that would not fit is left out: it can be read from the
 * event. */
static pawl_status headers_of(const pawl_stored_event *event, struct arena *arena, pawl_str *headers,
                              pawl_error *err) {
    struct buf buf;
    struct json_writer json;
    buf_init(&buf, 0);
    json_writer_init(&json, &buf);
    json_begin_object(&json);
    json_key(&json, "stream");
    json_str(&json, event->stream);
    json_key(&json, "version");
    json_int(&json, event->version);
    if (!str_absent(event->metadata) && event->metadata.len <= PAWL_RECEPTOR_METADATA_BYTES_MAX) {
        json_key(&json, "metadata");
        json_raw(&json, event->metadata);
    }
    json_end_object(&json);
    pawl_status status = buf_status(&buf, "receptor", err);
    if (status == PAWL_OK)
        status = str_dup(arena, buf_str(&buf), headers, err);
    buf_free(&buf);
    return status;
}

pawl_status receptor_message(struct arena *arena, const pawl_stored_event *event, pawl_str name,
                             pawl_outgoing *message, pawl_error *err) {
    pawl_outgoing made = {.type = event->type,
                          .payload = event->payload,
                          .correlation_id = event->correlation_id,
                          .causation_id = event->id,
                          .traceparent = event->traceparent};
    TRY(message_id(event->id, name, arena, &made.id, err));
    TRY(receptor_consumer(arena, name, &made.topic, err));
    TRY(headers_of(event, arena, &made.headers, err));
    *message = made;
    return PAWL_OK;
}

pawl_status receptor_wants(const struct event_pattern *patterns, size_t count, pawl_str type, bool *wants,
                           pawl_error *err) {
    *wants = false;
    for (size_t i = 0; !*wants && i < count; i++)
        TRY(event_pattern_matches(&patterns[i], type, wants, err));
    return PAWL_OK;
}
