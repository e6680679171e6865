/* Input checks of the relay interface. */
#include "store/relay.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "domain/name.h"
#include "store/store.h"

pawl_status check_duty(const struct duty_take *in, pawl_error *err) {
    TRY(name_check_topic(in->name, err));
    if (in->lease_ms < PAWL_LEASE_MS_MIN || in->lease_ms > PAWL_LEASE_MS_MAX)
        return error_set(err, PAWL_INVALID, "duty_take", "lease_ms is %lld; it must be from %d to %d",
                         (long long)in->lease_ms, PAWL_LEASE_MS_MIN, PAWL_LEASE_MS_MAX);
    return PAWL_OK;
}

struct messages_put receive_put(const struct messages_receive *in) {
    return (struct messages_put){.kind = KIND_INBOX,
                                 .messages = in->messages,
                                 .count = in->count,
                                 .consumer = in->consumer,
                                 .payload_bytes_max = in->payload_bytes_max};
}

static pawl_status check_text(pawl_str text, const char *what, size_t bytes_max, pawl_error *err) {
    if (text.len > bytes_max)
        return error_set(err, PAWL_INVALID, "relay", "%s has %zu bytes; at most %zu are allowed", what,
                         text.len, bytes_max);
    if (!utf8_valid(text, false, NULL))
        return error_set(err, PAWL_INVALID, "relay", "%s is not valid UTF-8", what);
    return PAWL_OK;
}

pawl_status check_receive(const struct messages_receive *in, pawl_error *err) {
    struct messages_put put = receive_put(in);
    TRY(check_put(&put, err));
    TRY(name_check_topic(in->duty, err));
    for (size_t i = 0; i < in->malformed_count; i++) {
        const struct malformed *one = &in->malformed[i];
        TRY(check_text(one->message_id, "the message id", PAWL_ERROR_BYTES_MAX, err));
        TRY(check_text(one->detail, "the reason", PAWL_ERROR_BYTES_MAX, err));
        TRY(check_text(one->payload, "the payload", PAWL_PAYLOAD_BYTES_MAX * 2, err));
    }
    return PAWL_OK;
}

pawl_str pause_error_text(struct arena *arena, pawl_str actor, pawl_str reason) {
    const char *text = arena_printf(arena, "cancelled by %.*s%s%.*s", STR_ARG(actor),
                                    str_absent(reason) ? "" : ": ", (int)reason.len,
                                    str_absent(reason) ? "" : reason.ptr);
    return utf8_cut(str_from(text), PAWL_ERROR_BYTES_MAX);
}

pawl_status check_pause(const struct pause_row *in, pawl_error *err) {
    pawl_uuid id;
    if (in->scope < PAUSE_TOPIC || in->scope > PAUSE_MESSAGE)
        return error_set(err, PAWL_INVALID, "pause",
                         "scope %d is unknown; use 1 topic, 2 stream, 3 handler, 4 queue, 5 message",
                         (int)in->scope);
    if (in->scope == PAUSE_MESSAGE && !uuid_parse(in->name, &id))
        return error_set(err, PAWL_INVALID, "pause", "'%.*s' is not a message id", STR_ARG(in->name));
    TRY(name_check_stream(in->name, err));
    TRY(check_text(in->reason, "the reason", PAWL_ERROR_BYTES_MAX, err));
    return name_check(in->actor, "actor", err);
}

pawl_status check_audit(const struct audit_row *in, pawl_error *err) {
    TRY(name_check(in->actor, "actor", err));
    TRY(name_check(in->action, "action", err));
    return check_text(in->detail, "the detail", PAWL_METADATA_BYTES_MAX, err);
}
