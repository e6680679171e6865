/* Checking single values; each error says where, what, why and what to do. */
#include "store/check/place.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "domain/name.h"
#include "store/events.h"

pawl_status place_wrong(struct place *at, const char *fmt, ...) {
    char why[sizeof at->err->text];
    va_list args;
    if (at->status != PAWL_OK)
        return at->status;
    va_start(args, fmt);
    (void)vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    if (at->noun == NULL)
        at->status = error_set(at->err, PAWL_INVALID, at->op, "%s", why);
    else
        at->status = error_set(at->err, PAWL_INVALID, at->op, "%s %zu of %zu: %s", at->noun, at->index + 1,
                               at->count, why);
    return at->status;
}

static pawl_status text_check(const struct text_rule *rule, pawl_str text, pawl_error *err) {
    switch (rule->form) {
    case TEXT_STREAM:
        return name_check_stream(text, err);
    case TEXT_TYPE:
        return name_check_type(text, err);
    case TEXT_TOPIC:
        return name_check_topic(text, err);
    case TEXT_NAME:
        break;
    }
    return name_check(text, rule->what, err);
}

pawl_status place_text(struct place *at, const struct text_rule *rule, pawl_str text) {
    if (str_absent(text)) {
        if (rule->required)
            return place_wrong(at, "the %s is missing; it is required here", rule->what);
        return at->status;
    }
    pawl_error why;
    if (text_check(rule, text, &why) != PAWL_OK)
        return place_wrong(at, "%s", why.text);
    return at->status;
}

pawl_status place_required(struct place *at, enum text_form form, const char *what, pawl_str text) {
    return place_text(at, &(struct text_rule){what, form, true}, text);
}

pawl_status place_optional(struct place *at, enum text_form form, const char *what, pawl_str text) {
    return place_text(at, &(struct text_rule){what, form, false}, text);
}

pawl_status place_json_object(struct place *at, const char *what, pawl_str text) {
    if (str_absent(text))
        return at->status;
    if (text.len > PAWL_METADATA_BYTES_MAX)
        return place_wrong(at, "the %s have %zu bytes; at most %d are allowed", what, text.len,
                           PAWL_METADATA_BYTES_MAX);
    struct json_fault fault = {0, NULL};
    if (!json_valid(text, PAWL_JSON_DEPTH_MAX, &fault))
        return place_wrong(at, "the %s are not JSON: %s at byte %zu", what, fault.reason, fault.offset);
    if (str_trim(text).ptr[0] != '{')
        return place_wrong(at, "the %s must be a JSON object, like {\"key\": \"value\"}", what);
    return at->status;
}

pawl_status place_json(struct place *at, const char *what, pawl_str text, size_t bytes_max) {
    struct json_fault fault = {0, NULL};
    if (str_absent(text))
        return at->status;
    if (text.len > bytes_max)
        return place_wrong(at, "the %s has %zu bytes, the limit is %zu; store big data elsewhere", what,
                           text.len, bytes_max);
    if (!json_valid(text, PAWL_JSON_DEPTH_MAX, &fault))
        return place_wrong(at, "the %s is not JSON: %s at byte %zu", what, fault.reason, fault.offset);
    return at->status;
}

pawl_status place_range(struct place *at, const char *what, int64_t value, int64_t min, int64_t max) {
    if (value < min || value > max)
        return place_wrong(at, "%s %" PRId64 " is outside %" PRId64 " … %" PRId64, what, value, min, max);
    return at->status;
}

pawl_status place_limit(struct place *at, int limit) {
    return place_range(at, "limit", limit, 1, PAWL_LIST_MAX);
}

pawl_status check_limit(const char *op, int limit, pawl_error *err) {
    return place_limit(&(struct place){.op = op, .err = err}, limit);
}

pawl_status place_count(struct place *at, const char *what, size_t count, const void *items) {
    if (count > PAWL_BATCH_MAX)
        return place_wrong(at, "%zu %s in one call; at most %d are allowed, so split the call", count, what,
                           PAWL_BATCH_MAX);
    if (count > 0 && items == NULL)
        return place_wrong(at, "the call announces %zu %s but has none", count, what);
    return at->status;
}

pawl_status place_kind(struct place *at, enum store_kind kind) {
    if (kind < KIND_OUTBOX || kind > KIND_COUNT)
        return place_wrong(at, "%d is not a kind of work; use 1 (outbox), 2 (inbox) or 3 (perspective)",
                           (int)kind);
    return at->status;
}

pawl_status place_instance_id(struct place *at, pawl_uuid id) {
    if (uuid_is_nil(id))
        return place_wrong(at, "the instance id is nil; draw a fresh UUIDv7 for every start of the process");
    return at->status;
}

pawl_status place_lease(struct place *at, int64_t lease_ms) {
    if (lease_ms < PAWL_LEASE_MS_MIN || lease_ms > PAWL_LEASE_MS_MAX)
        return place_wrong(at, "a lease of %" PRId64 " ms is outside %d … %d ms", lease_ms, PAWL_LEASE_MS_MIN,
                           PAWL_LEASE_MS_MAX);
    return at->status;
}

pawl_status place_policy(struct place *at, int policy) {
    if (policy < POLICY_DEFAULT || policy > POLICY_PARK)
        return place_wrong(
            at, "%d is not a dead-letter policy; use 0 (default), 1 (block), 2 (skip) or 3 (park)", policy);
    return at->status;
}

pawl_status place_attempts(struct place *at, int max_attempts) {
    if (max_attempts < 0 || max_attempts > PAWL_ATTEMPTS_MAX)
        return place_wrong(at, "max_attempts %d is outside 0 … %d (0 = the default)", max_attempts,
                           PAWL_ATTEMPTS_MAX);
    return at->status;
}

pawl_status place_payload(struct place *at, pawl_str payload, size_t bytes_max) {
    if (str_absent(payload))
        return place_wrong(at, "the payload is missing; send JSON, null when there is nothing to say");
    if (payload.len > bytes_max)
        return place_wrong(
            at, "the payload has %zu bytes, the limit is %zu; store big data elsewhere and send where it is",
            payload.len, bytes_max);
    struct json_fault fault = {0, NULL};
    if (!json_valid(payload, PAWL_JSON_DEPTH_MAX, &fault))
        return place_wrong(at, "the payload is not JSON: %s at byte %zu", fault.reason, fault.offset);
    return at->status;
}

static pawl_status place_message(struct place *at, const pawl_outgoing *message, size_t payload_bytes_max) {
    for (size_t i = 0; i < message_text_count; i++) {
        const struct text_member *text = &message_texts[i];
        place_text(at, &text->rule, *(const pawl_str *)((const char *)message + text->member.offset));
    }
    place_payload(at, message->payload, payload_bytes_max);
    return place_json_object(at, "headers", message->headers);
}

pawl_status place_messages(struct place *at, const pawl_outgoing *messages, size_t count,
                           size_t payload_bytes_max) {
    at->noun = NULL;
    place_count(at, "messages", count, messages);
    if (payload_bytes_max > PAWL_PAYLOAD_BYTES_MAX)
        return place_wrong(at, "a payload limit of %zu bytes is above the largest possible, %d",
                           payload_bytes_max, PAWL_PAYLOAD_BYTES_MAX);
    if (payload_bytes_max == 0)
        payload_bytes_max = PAWL_PAYLOAD_BYTES_DEFAULT;
    at->noun = "message";
    at->count = count;
    for (at->index = 0; at->status == PAWL_OK && at->index < count; at->index++)
        place_message(at, &messages[at->index], payload_bytes_max);
    return at->status;
}

static pawl_status place_delay(struct place *at, int64_t delay_ms, int64_t min) {
    if (delay_ms < min || delay_ms > PAWL_RETRY_MS_MAX)
        return place_wrong(at, "a delay of %" PRId64 " ms is outside %" PRId64 " … %d ms%s", delay_ms, min,
                           PAWL_RETRY_MS_MAX, min < 0 ? " (-1 = the backoff)" : "");
    return at->status;
}

pawl_status place_error_text(struct place *at, pawl_str text) {
    size_t bad = 0;
    if (!str_absent(text) && !utf8_valid(text, false, &bad))
        return place_wrong(
            at, "the error text is not UTF-8 without NUL bytes (at byte %zu); clean it before reporting",
            bad);
    return at->status;
}

static pawl_status place_failure(struct place *at, const struct fail_item *item) {
    place_error_text(at, item->error);
    place_error_text(at, item->stack);
    if (item->error_class < CLASS_RETRYABLE || item->error_class > CLASS_CANCELLED)
        return place_wrong(at, "%d is not an error class; use 1 (retryable), 2 (permanent) or 3 (cancelled)",
                           (int)item->error_class);
    place_delay(at, item->delay_ms, -1);
    place_policy(at, (int)item->policy);
    return place_attempts(at, item->max_attempts);
}

pawl_status place_failures(struct place *at, const struct fail_item *items, size_t count) {
    at->noun = NULL;
    place_count(at, "failures", count, items);
    at->noun = "failure";
    at->count = count;
    for (at->index = 0; at->status == PAWL_OK && at->index < count; at->index++)
        place_failure(at, &items[at->index]);
    return at->status;
}

pawl_status place_releases(struct place *at, const struct release_item *items, size_t count) {
    at->noun = NULL;
    place_count(at, "releases", count, items);
    at->noun = "release";
    at->count = count;
    for (at->index = 0; at->status == PAWL_OK && at->index < count; at->index++)
        place_delay(at, items[at->index].delay_ms, 0);
    return at->status;
}
