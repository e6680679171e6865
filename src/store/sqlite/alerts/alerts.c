/* Alerts on SQLite: rules, turns, history, deliveries. */
#include "store/alerts.h"

#include <sys/statvfs.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "store/sqlite/alerts/series.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/messages/put.h"

enum { FORGET_ROWS = 1000 };

/* ---- Rules */

static pawl_status read_rules(struct operation *op, pawl_str name, struct arena *arena,
                              struct alert_rows *out) {
    struct row_list list;
    TRY(rows_read(SQL(op, SQLITE_Q_ALERT_RULES, name), &alert_shape, arena, &list));
    *out = (struct alert_rows){list.rows, list.count, op->now_ms};
    return PAWL_OK;
}

static pawl_status write_rule(struct operation *op, const struct alert_rule *in, int64_t version) {
    struct alert_rule rule = *in;
    rule.version = version;
    rule.updated_ms = op->now_ms;
    if (str_absent(rule.targets))
        rule.targets = STR("");
    return statement_run(
        SQL(op, SQLITE_Q_ALERT_RULE_PUT, ROW_OF(alert_rule_shape, &(struct alert_row){.rule = rule})));
}

static pawl_status put_rule(struct operation *op, const struct alert_rule *in, int64_t *version) {
    struct alert_rows known;
    int64_t count = 0;
    bool found = false;
    TRY(read_rules(op, in->name, op->scratch, &known));
    int64_t have = known.count > 0 ? known.rows[0].rule.version : 0;
    if (in->version != 0 && in->version != have)
        return error_set(op->err, PAWL_CONFLICT, "alert_rule_put",
                         "the rule has another version; read it again");
    TRY(statement_number(statement_begin(op, SQLITE_Q_ALERT_RULE_COUNT), &count, &found));
    if (known.count == 0 && count >= PAWL_ALERT_RULES_MAX)
        return error_set(op->err, PAWL_CONFLICT, "alert_rule_put",
                         "there are as many rules as there may be; remove one");
    *version = have + 1;
    return write_rule(op, in, *version);
}

pawl_status sqlite_alert_rule_put(struct store *store, const struct alert_rule *in, int64_t *version,
                                  pawl_error *err) {
    int64_t made = 0;
    struct operation op = operation_write(store, "alert_rule_put", alert_rule_check(in, err), err);
    return operation_give(&op, put_rule(&op, in, &made), version, &made);
}

/* Runs a statement that must change a rule. */
static pawl_status change_rule(struct operation *op, struct statement s, pawl_str name) {
    int64_t changed = 0;
    TRY(statement_run_count(s, &changed));
    if (changed == 0)
        return error_set(op->err, PAWL_NOT_FOUND, "alerts", "there is no rule %.*s", STR_ARG(name));
    return PAWL_OK;
}

pawl_status sqlite_alert_rule_remove(struct store *store, pawl_str name, pawl_error *err) {
    struct operation op = operation_write(store, "alert_rule_remove", PAWL_OK, err);
    return operation_end(&op, change_rule(&op, SQL(&op, SQLITE_Q_ALERT_RULE_DELETE, name), name));
}

pawl_status sqlite_alert_silence(struct store *store, const struct alert_silence *in, pawl_error *err) {
    struct operation op = operation_write(store, "alert_silence", check_alert_silence(in, err), err);
    if (op.status != PAWL_OK)
        return op.status;
    struct statement s = SQL(&op, SQLITE_Q_ALERT_SILENCE, ROW_OF(alert_silence_shape, in));
    return operation_end(&op, change_rule(&op, s, in->name));
}

/* ---- Turns */

static pawl_status read_turn(struct operation *op, struct arena *arena, struct alert_turn *turn) {
    struct statement s = statement_begin(op, SQLITE_Q_ALERT_TURN_READ);
    if (statement_next(&s)) {
        turn->token = column_int(&s, 0);
        turn->next_ms = column_int(&s, 1);
        turn->window = column_copy(&s, 2, arena);
    }
    TRY(statement_end(&s));
    return statement_any(SQL(op, SQLITE_Q_ALERT_NOTICE_ANY, op->now_ms), &turn->due);
}

/* A clock that was set back, or a caller with a longer interval, must not stop the evaluation. */
static bool turn_due(const struct alert_turn *turn, int64_t now_ms, int64_t interval_ms) {
    return turn->next_ms <= now_ms || turn->next_ms > now_ms + 2 * interval_ms;
}

static pawl_status take_turn(struct operation *op, int64_t interval_ms, struct arena *arena,
                             struct alert_turn *turn) {
    TRY(read_turn(op, arena, turn));
    turn->now_ms = op->now_ms;
    turn->taken = turn_due(turn, op->now_ms, interval_ms);
    turn->token = turn->taken ? operation_next_token(op) : 0;
    if (!turn->taken)
        return PAWL_OK;
    turn->next_ms = op->now_ms + interval_ms;
    TRY(statement_run(SQL(op, SQLITE_Q_ALERT_TURN_WRITE, turn->token, turn->next_ms)));
    return read_rules(op, (pawl_str){NULL, 0}, arena, &turn->rules);
}

/* Most callers are early: they read and write nothing. */
pawl_status sqlite_alert_turn_take(struct store *store, int64_t interval_ms, struct arena *arena,
                                   struct alert_turn *out, pawl_error *err) {
    struct alert_turn turn = {.taken = false};
    struct operation op =
        operation_read(store, "alert_turn_take", check_alert_interval(interval_ms, err), err);
    pawl_status status = operation_end(&op, read_turn(&op, arena, &turn));
    turn.now_ms = op.now_ms;
    turn.token = 0;
    if (status == PAWL_OK && turn_due(&turn, turn.now_ms, interval_ms)) {
        op = operation_write(store, "alert_turn_take", PAWL_OK, err);
        status = operation_end(&op, take_turn(&op, interval_ms, arena, &turn));
    }
    if (status == PAWL_OK && turn.taken)
        status = sqlite_fleet(store, arena, &turn.facts, err);
    if (status == PAWL_OK)
        *out = turn;
    return status;
}

static pawl_status write_verdict(struct operation *op, const struct alert_verdict *verdict) {
    int64_t changed = 0;
    TRY(statement_run_count(SQL(op, SQLITE_Q_ALERT_STATE_WRITE, ROW_OF(alert_verdict_shape, verdict)),
                            &changed));
    if (changed == 0)
        return error_set(op->err, PAWL_CONFLICT, "alert_turn_end",
                         "a rule was changed while it was evaluated");
    return PAWL_OK;
}

static pawl_status forget(struct operation *op) {
    int64_t changed = 0;
    TRY(statement_run_count(
        SQL(op, SQLITE_Q_ALERT_CHANGE_FORGET, op->now_ms - PAWL_ALERT_KEEP_MS, FORGET_ROWS), &changed));
    if (changed == 0)
        return PAWL_OK;
    return statement_run(statement_begin(op, SQLITE_Q_ALERT_NOTICE_FORGET));
}

static pawl_status write_news(struct operation *op, const struct alert_news *news) {
    for (size_t i = 0; i < news->change_count; i++) {
        const struct alert_change *change = &news->changes[i];
        TRY(statement_run(SQL(op, SQLITE_Q_ALERT_CHANGE_INSERT, change->id, change->rule, change->event,
                              change->value, op->now_ms, change->detail)));
    }
    for (size_t i = 0; i < news->delivery_count; i++)
        TRY(statement_run(SQL(op, SQLITE_Q_ALERT_NOTICE_INSERT, news->deliveries[i].change,
                              news->deliveries[i].target, op->now_ms)));
    if (news->message_count > 0) {
        struct messages_put put = alert_put(news);
        struct put_result result;
        TRY(put_messages(op, &put, false, op->scratch, &result));
    }
    return PAWL_OK;
}

static pawl_status end_turn(struct operation *op, const struct alert_turn_end *in) {
    struct alert_turn turn = {.token = 0};
    TRY(read_turn(op, op->scratch, &turn));
    if (turn.token != in->token)
        return error_set(op->err, PAWL_STALE, "alert_turn_end", "another turn was given meanwhile");
    for (size_t i = 0; i < in->verdict_count; i++)
        TRY(write_verdict(op, &in->verdicts[i]));
    TRY(statement_run(SQL(op, SQLITE_Q_ALERT_TURN_CLOSE, str_absent(in->window) ? STR("") : in->window)));
    TRY(forget(op));
    TRY(series_look(op)); /* what waits is seen although nobody works */
    return write_news(op, &in->news);
}

pawl_status sqlite_alert_turn_end(struct store *store, const struct alert_turn_end *in, pawl_error *err) {
    struct operation op = operation_write(store, "alert_turn_end", check_alert_news(&in->news, err), err);
    return operation_end(&op, end_turn(&op, in));
}

pawl_status sqlite_alert_tell(struct store *store, const struct alert_news *in, pawl_error *err) {
    struct operation op = operation_write(store, "alert_tell", check_alert_news(in, err), err);
    return operation_end(&op, write_news(&op, in));
}

/* ---- History */

/* ---- Deliveries */

static pawl_status read_due(struct operation *op, pawl_str target, int limit, struct arena *arena,
                            struct alert_notices *out) {
    struct statement s = SQL(op, SQLITE_Q_ALERT_NOTICE_DUE, target, op->now_ms, limit);
    while (statement_next(&s)) {
        struct alert_notice *notice = &out->notices[out->count++];
        *notice = (struct alert_notice){.number = column_int(&s, 0), .attempt = (int)column_int(&s, 1) + 1};
        row_read(&s, 2, &alert_told_shape, arena, &notice->change);
        notice->age_ms = op->now_ms - notice->change.at_ms;
    }
    return statement_end(&s);
}

static pawl_status take_notices(struct operation *op, pawl_str target, int64_t lease_ms, int limit,
                                struct arena *arena, struct alert_notices *out) {
    out->notices = arena_array(arena, (size_t)limit, sizeof *out->notices);
    if (out->notices == NULL)
        return operation_no_memory(op);
    TRY(read_due(op, target, limit, arena, out));
    int64_t token = out->count > 0 ? operation_next_token(op) : 0;
    for (size_t i = 0; i < out->count; i++) {
        struct statement s =
            SQL(op, SQLITE_Q_ALERT_NOTICE_TAKE, out->notices[i].number, token, op->now_ms + lease_ms);
        out->notices[i].token = token;
        TRY(statement_run(s));
    }
    return PAWL_OK;
}

pawl_status sqlite_alert_notices_take(struct store *store, pawl_str target, int64_t lease_ms, int limit,
                                      struct arena *arena, struct alert_notices *out, pawl_error *err) {
    struct alert_notices taken = {.count = 0};
    struct operation op =
        operation_write(store, "alert_notices_take", check_alert_take(target, lease_ms, limit, err), err);
    return operation_give(&op, take_notices(&op, target, lease_ms, limit, arena, &taken), out, &taken);
}

pawl_status sqlite_alert_notice_end(struct store *store, const struct alert_notice_end *in, pawl_error *err) {
    int64_t changed = 0;
    struct operation op = operation_write(store, "alert_notice_end", check_alert_notice_end(in, err), err);
    if (op.status != PAWL_OK)
        return op.status;
    pawl_status status =
        statement_run_count(SQL(&op, SQLITE_Q_ALERT_NOTICE_END, in->number, in->token,
                                in->delivered      ? NOTICE_DELIVERED
                                : in->delay_ms < 0 ? NOTICE_GIVEN_UP
                                                   : NOTICE_WAITING,
                                op.now_ms + (in->delay_ms > 0 ? in->delay_ms : 0), in->error),
                            &changed);
    if (status == PAWL_OK && changed == 0)
        status = error_set(err, PAWL_STALE, "alert_notice_end", "the delivery is no longer ours");
    return operation_end(&op, status);
}

/* The disk of the file: what root keeps for itself counts as used. */
pawl_status sqlite_alert_pressure(struct store *store, int64_t *percent, pawl_error *err) {
    struct sqlite_store *self = sqlite_store_of(store);
    struct statvfs disk;
    (void)err;
    *percent = 0;
    if (self->path != NULL && statvfs(self->path, &disk) == 0 && disk.f_blocks > 0)
        *percent = 100 - (int64_t)(disk.f_bavail * 100 / disk.f_blocks);
    return PAWL_OK;
}
