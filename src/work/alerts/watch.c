/* Evaluating alert rules and delivering alerts: to the log, and to the programs and endpoints of this
 * process's targets file. Every process asks once per interval, and the store gives the turn to one of them.
 * A delivery is leased; if this process dies with one, another delivers it, so every target is notified at
 * least once. */
#include "work/alerts/watch.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "domain/alert.h"
#include "domain/failure/retry.h"
#include "handler/table.h"
#include "work/alerts/round.h"
#include "work/receptors/call.h"

enum { NOTICES_AT_ONCE = 20, SEND_MS_MAX = 30000, RETRY_BASE_MS = 5000 };

/* What the process delivers with; the table's patterns are names of targets. */
struct alert_sender {
    struct handler_table *targets;
    struct receptor_world world;
    struct log log;
    const stop_flag *stop;
};

struct alert_watch {
    struct duty duty;
    bool delivers;    /* in its next turn, before the next evaluation */
    int64_t round_ms; /* boot time of that */
    struct store_config store;
    struct alert_sender sender;
};

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

/* Delivers everything that is due for our targets. What cannot be delivered stays for later, here or in
 * another process. */
static pawl_status send_due(struct alert_sender *sender, struct store *store, struct arena *arena,
                            pawl_error *err) {
    pawl_status status = send_target(sender, STR("log"), NULL, store, arena, err);
    for (size_t i = 0; status == PAWL_OK && i < sender->targets->count; i++) {
        const struct handler *target = &sender->targets->handlers[i];
        status = send_target(sender, target->pattern, target, store, arena, err);
    }
    return status;
}

/* The names of targets are patterns of handlers, but mean only themselves. */
static pawl_status read_targets(struct alert_watch *watch, const char *path, pawl_error *err) {
    pawl_status status = handler_table_add_file(watch->sender.targets, path, err);
    for (size_t i = 0; status == PAWL_OK && i < watch->sender.targets->count; i++) {
        pawl_str name = watch->sender.targets->handlers[i].pattern;
        status = alert_name_check(name, "a target", err);
        if (status == PAWL_OK && (str_equal(name, STR("log")) || str_equal(name, STR("message"))))
            status =
                error_set(err, PAWL_INVALID, "alerts", "the target '%.*s' is there already", STR_ARG(name));
    }
    return status == PAWL_OK
               ? launcher_create("alerts", LAUNCHER_OWN_THREAD, &watch->sender.world.launcher, err)
               : status;
}

/* One evaluation, if it is our turn; when something is due, a turn that delivers follows. */
static pawl_status evaluate(struct alert_watch *watch, struct duty_turn *turn, struct arena *arena,
                            pawl_error *err) {
    int64_t interval_ms = watch->duty.rule.period_ms;
    struct alert_round round = {.next_in_ms = interval_ms};
    pawl_status status = alert_round(turn->store, interval_ms, arena, &round, err);
    if (round.next_in_ms <= interval_ms)
        turn->next_ms = round.next_in_ms;
    if (status != PAWL_OK || !round.due)
        return status;
    watch->round_ms = clock_boot_ms() + (turn->next_ms >= 0 ? turn->next_ms : interval_ms);
    watch->delivers = turn->lengthy = true;
    turn->next_ms = 0;
    return PAWL_OK;
}

static pawl_status deliver(struct alert_watch *watch, struct duty_turn *turn, struct arena *arena,
                           pawl_error *err) {
    watch->delivers = false;
    watch->sender.stop = turn->stop;
    pawl_status status = send_due(&watch->sender, turn->store, arena, err);
    int64_t left_ms = watch->round_ms - clock_boot_ms();
    turn->next_ms = left_ms > 0 ? left_ms : 0;
    return status;
}

static pawl_status watch_turn(void *self, struct duty_turn *turn, pawl_error *err) {
    struct alert_watch *watch = self;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return error_no_memory(err, "alerts");
    pawl_status status = watch->delivers ? deliver(watch, turn, arena, err)
                                         : evaluate(watch, turn, arena, err);
    arena_free(arena);
    return status;
}

pawl_status alert_watch_create(const struct alert_watch_config *config, struct alert_watch **watch,
                               pawl_error *err) {
    int64_t interval_ms = config->interval_ms != 0 ? config->interval_ms : PAWL_ALERT_INTERVAL_MS_DEFAULT;
    pawl_status status = check_alert_interval(interval_ms, err);
    if (status != PAWL_OK)
        return status;
    struct alert_watch *made = calloc(1, sizeof *made);
    if (made == NULL)
        return error_no_memory(err, "alerts");
    made->store = config->store;
    made->sender.world.source = "/pawl/alerts";
    made->sender.log = config->log;
    /* A little after the next turn, by a different amount in each process, so that turns alternate. */
    made->duty = (struct duty){.rule = {.name = "alerts",
                                        .first_ms = interval_ms,
                                        .period_ms = interval_ms,
                                        .jitter_ms = interval_ms / 4,
                                        .anytime = true,
                                        .unhurried = true,
                                        .brief = true},
                               .run = watch_turn,
                               .self = made};
    pthread_mutex_init(&made->sender.world.lock, NULL);
    status = handler_table_create(&made->sender.targets, err);
    if (status == PAWL_OK && config->targets != NULL)
        status = read_targets(made, config->targets, err);
    if (status != PAWL_OK) {
        alert_watch_free(made);
        return status;
    }
    *watch = made;
    return PAWL_OK;
}

void alert_watch_free(struct alert_watch *watch) {
    if (watch == NULL)
        return;
    for (size_t i = 0; i < watch->sender.world.client_count; i++)
        http_client_free(watch->sender.world.clients[i]);
    launcher_free(watch->sender.world.launcher);
    handler_table_free(watch->sender.targets);
    pthread_mutex_destroy(&watch->sender.world.lock);
    free(watch);
}

const struct duty *alert_watch_duty(const struct alert_watch *watch) { return &watch->duty; }

struct launcher *alert_watch_launcher(struct alert_watch *watch) {
    return watch->sender.world.launcher;
}

/* The first target of a rule that is missing in this process's file. */
struct unknown {
    const struct handler_table *targets;
    pawl_str name;
};

static bool is_known(void *self, pawl_str name) {
    struct unknown *unknown = self;
    bool known = str_equal(name, STR("log")) || str_equal(name, STR("message"));
    for (size_t i = 0; i < unknown->targets->count && !known; i++)
        known = str_equal(unknown->targets->handlers[i].pattern, name);
    if (!known)
        unknown->name = name;
    return known;
}

/* If the targets file lacks a target that a rule names, its notifications would never be delivered: fail at
 * startup instead. */
static pawl_status check_targets(const struct alert_watch *watch, struct store *store, struct arena *arena,
                                 pawl_error *err) {
    struct alert_rows rows = {.count = 0};
    pawl_status status = store->ops->alerts->rules(store, (pawl_str){NULL, 0}, arena, &rows, err);
    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
        const struct alert_rule *rule = &rows.rows[i].rule;
        struct unknown unknown = {.targets = watch->sender.targets};
        alert_targets(rule->targets, is_known, &unknown);
        if (!rule->enabled || str_absent(unknown.name))
            continue;
        return error_set(err, PAWL_INVALID, "alerts",
                         "the rule '%.*s' tells '%.*s', which the file of targets does not have: add a "
                         "section [%.*s], or change the rule with pawl alert set %.*s --targets",
                         STR_ARG(rule->name), STR_ARG(unknown.name), STR_ARG(unknown.name),
                         STR_ARG(rule->name));
    }
    return status;
}

pawl_status alert_watch_check(struct alert_watch *watch, pawl_error *err) {
    struct store *store = NULL;
    struct arena *arena = watch->sender.world.launcher != NULL ? arena_create(0) : NULL;
    pawl_error later;
    pawl_status status = arena != NULL ? store_open(&watch->store, &store, &later) : PAWL_NO_MEMORY;
    if (status == PAWL_OK)
        status = check_targets(watch, store, arena, err);
    store_close(store);
    arena_free(arena);
    return status == PAWL_INVALID ? status : PAWL_OK;
}
