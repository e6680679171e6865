/* Input checks of the alerts interface. */
#include "store/alerts.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "domain/name.h"
#include "store/store.h"

static pawl_status check_text(pawl_str text, const char *what, size_t bytes_max, pawl_error *err) {
    if (text.len <= bytes_max && utf8_valid(text, false, NULL))
        return PAWL_OK;
    return error_set(err, PAWL_INVALID, "alerts", "%s is not UTF-8 text of at most %zu bytes", what,
                     bytes_max);
}

pawl_status check_alert_silence(const struct alert_silence *in, pawl_error *err) {
    TRY(alert_name_check(in->name, "a rule", err));
    if (in->until_ms < 0)
        return error_set(err, PAWL_INVALID, "alerts", "a silence cannot end before 1970");
    TRY(check_text(in->reason, "the reason", PAWL_ALERT_SUMMARY_BYTES_MAX, err));
    return name_check(in->actor, "actor", err);
}

pawl_status check_alert_interval(int64_t interval_ms, pawl_error *err) {
    if (interval_ms >= PAWL_ALERT_INTERVAL_MS_MIN && interval_ms <= PAWL_ALERT_INTERVAL_MS_MAX)
        return PAWL_OK;
    return error_set(err, PAWL_INVALID, "alerts", "the interval is %lld ms; it must be from %d to %d",
                     (long long)interval_ms, PAWL_ALERT_INTERVAL_MS_MIN, PAWL_ALERT_INTERVAL_MS_MAX);
}

static bool has_change(const struct alert_news *in, pawl_uuid id) {
    for (size_t i = 0; i < in->change_count; i++) {
        if (uuid_equal(in->changes[i].id, id))
            return true;
    }
    return false;
}

pawl_status check_alert_news(const struct alert_news *in, pawl_error *err) {
    pawl_status status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < in->change_count; i++) {
        const struct alert_change *change = &in->changes[i];
        status = alert_name_check(change->rule, "a rule", err);
        if (status == PAWL_OK &&
            (uuid_is_nil(change->id) || change->event < ALERT_FIRED || change->event > ALERT_TESTED))
            return error_set(err, PAWL_INVALID, "alerts", "a change needs an id and a known event");
        if (status == PAWL_OK)
            status = check_text(change->detail, "the detail", PAWL_METADATA_BYTES_MAX, err);
    }
    for (size_t i = 0; status == PAWL_OK && i < in->delivery_count; i++) {
        status = alert_name_check(in->deliveries[i].target, "a target", err);
        if (status == PAWL_OK && !has_change(in, in->deliveries[i].change))
            return error_set(err, PAWL_INVALID, "alerts", "a delivery belongs to a change of the same call");
    }
    if (status == PAWL_OK && in->message_count > 0) {
        struct messages_put put = alert_put(in);
        status = check_put(&put, err);
    }
    return status;
}

pawl_status check_alert_take(pawl_str target, int64_t lease_ms, int limit, pawl_error *err) {
    pawl_status status = alert_name_check(target, "a target", err);
    if (status == PAWL_OK &&
        (lease_ms < PAWL_LEASE_MS_MIN || lease_ms > PAWL_LEASE_MS_MAX || limit < 1 || limit > PAWL_BATCH_MAX))
        return error_set(err, PAWL_INVALID, "alerts",
                         "lease_ms must be from %d to %d and the limit from 1 to %d", PAWL_LEASE_MS_MIN,
                         PAWL_LEASE_MS_MAX, PAWL_BATCH_MAX);
    return status;
}

pawl_status check_alert_notice_end(const struct alert_notice_end *in, pawl_error *err) {
    if (in->delay_ms < -1 || in->delay_ms > PAWL_RETRY_MS_MAX)
        return error_set(err, PAWL_INVALID, "alerts", "a delivery cannot wait for %lld ms",
                         (long long)in->delay_ms);
    return check_text(in->error, "the error", PAWL_ERROR_BYTES_MAX, err);
}

struct messages_put alert_put(const struct alert_news *in) {
    return (struct messages_put){.kind = KIND_OUTBOX, .messages = in->messages, .count = in->message_count};
}
