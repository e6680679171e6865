/* Delivering alerts. A delivery is leased; if this process dies with one, another delivers it, so every
 * target is notified at least once. */
#include "work/alerts/send.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "domain/failure/retry.h"
#include "work/alerts/round.h"

enum { NOTICES_AT_ONCE = 20, SEND_MS_MAX = 30000, RETRY_BASE_MS = 5000 };

static void log_alert(struct alert_sender *sender, const struct alert_change *change) {
    char event[32];
    bool fired = change->event == ALERT_FIRED;
    snprintf(event, sizeof event, "alert_%s", alert_event_name(change->event));
    log_event(&sender->log, fired ? LOG_LEVEL_WARN : LOG_LEVEL_INFO, event,
              "rule=%.*s value=%lld detail=%.*s", STR_ARG(change->rule), (long long)change->value,
              STR_ARG(change->detail));
}

static void call_target(struct alert_sender *sender, const struct handler *target,
                        const struct alert_notice *notice, struct arena *arena,
                        struct handler_verdict *verdict) {
    const struct alert_change *change = &notice->change;
    int64_t limit_ms = target->timeout_ms > 0 && target->timeout_ms < SEND_MS_MAX ? target->timeout_ms
                                                                                  : SEND_MS_MAX;
    struct item item = {
        .kind = KIND_OUTBOX,
        .id = change->id,
        .stream = str_from(arena_printf(arena, "alert:%.*s", STR_ARG(change->rule))),
        .type = str_from(arena_printf(arena, "pawl.alert.%s", alert_event_name(change->event))),
        .payload = change->detail,
        .put_ms = change->at_ms,
        .attempt = notice->attempt};
    struct receptor_call call = {.handler = target,
                                 .item = &item,
                                 .name = target->name,
                                 .deadline_ms = clock_boot_ms() + limit_ms,
                                 .cancel = sender->stop};
    receptor_call(&sender->world, &call, verdict);
}

/* After a failed delivery: retry later, with growing delays, until it is too old. */
static int64_t delay_ms(const struct alert_notice *notice, const struct handler_verdict *verdict) {
    const struct retry_policy policy = {RETRY_BASE_MS, PAWL_ALERT_RETRY_MAX_MS, true};
    int64_t wait_ms = retry_wait_ms(&policy, notice->attempt, (uint64_t)clock_boot_us());
    if (verdict->delay_ms > wait_ms && verdict->delay_ms <= PAWL_ALERT_RETRY_MAX_MS)
        wait_ms = verdict->delay_ms;
    return notice->age_ms > PAWL_ALERT_GIVE_UP_MS ? -1 : wait_ms;
}

static pawl_status send_one(struct alert_sender *sender, const struct handler *target, struct store *store,
                            const struct alert_notice *notice, struct arena *arena, pawl_error *err) {
    struct handler_verdict verdict = {.outcome = HANDLED_DONE};
    struct alert_notice_end end = {.number = notice->number, .token = notice->token};
    if (target == NULL)
        log_alert(sender, &notice->change);
    else
        call_target(sender, target, notice, arena, &verdict);
    end.delivered = verdict.outcome == HANDLED_DONE;
    if (!end.delivered) {
        end.delay_ms = delay_ms(notice, &verdict);
        end.error = str_from(verdict.error);
        log_event(&sender->log, LOG_LEVEL_WARN, "alert_undelivered",
                  "rule=%.*s target=%s attempt=%d retry_ms=%lld error=%s", STR_ARG(notice->change.rule),
                  target->name, notice->attempt, (long long)end.delay_ms, verdict.error);
    }
    pawl_status status = store->ops->alerts->notice_end(store, &end, err);
    return status == PAWL_STALE ? PAWL_OK : status;
}

static pawl_status send_target(struct alert_sender *sender, pawl_str name, const struct handler *target,
                               struct store *store, struct arena *arena, pawl_error *err) {
    struct alert_notices due;
    pawl_status status = store->ops->alerts->notices_take(store, name, PAWL_ALERT_LEASE_MS * NOTICES_AT_ONCE,
                                                          NOTICES_AT_ONCE, arena, &due, err);
    for (size_t i = 0; status == PAWL_OK && i < due.count && !atomic_load(sender->stop); i++)
        status = send_one(sender, target, store, &due.notices[i], arena, err);
    return status;
}

pawl_status alert_send_due(struct alert_sender *sender, struct store *store, struct arena *arena,
                           pawl_error *err) {
    pawl_status status = send_target(sender, STR("log"), NULL, store, arena, err);
    for (size_t i = 0; status == PAWL_OK && i < sender->targets->count; i++) {
        const struct handler *target = &sender->targets->handlers[i];
        status = send_target(sender, target->pattern, target, store, arena, err);
    }
    return status;
}
