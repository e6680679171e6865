/* Alerts on PostgreSQL: rules, turns, history, deliveries. */
#include "store/alerts.h"

#include <assert.h>

#include "base/limits.h"
#include "base/str.h"
#include "store/postgres/calls.h"
#include "store/postgres/query.h"

enum { NEWS_STATEMENTS = 3 };

/* ---- Rules */

pawl_status postgres_alert_rule_put(struct store *store, const struct alert_rule *in, int64_t *version,
                                    pawl_error *err) {
    struct alert_row row = {.rule = *in};
    if (str_absent(in->targets))
        row.rule.targets = STR("");
    struct query q =
        pg_write(store, POSTGRES_Q_ALERT_RULE_PUT, "alert_rule_put", NULL, alert_rule_check(in, err));
    SEND(&q, ROW_OF(alert_rule_new_shape, &row), PAWL_ALERT_RULES_MAX);
    return pg_int(&q, version, err);
}

pawl_status postgres_alert_rule_remove(struct store *store, pawl_str name, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_ALERT_RULE_REMOVE, "alert_rule_remove", NULL, PAWL_OK);
    SEND(&q, name);
    return pg_done(&q, err);
}

pawl_status postgres_alert_silence(struct store *store, const struct alert_silence *in, pawl_error *err) {
    struct query q =
        pg_write(store, POSTGRES_Q_ALERT_SILENCE, "alert_silence", NULL, check_alert_silence(in, err));
    SEND(&q, ROW_OF(alert_silence_shape, in));
    return pg_done(&q, err);
}

/* ---- Turns */

struct take_call {
    int64_t interval_ms;
    struct arena *arena;
    struct alert_turn turn;
};

/* Rules that are changed after this are noticed at the end of the turn. */
static pawl_status take_turn(struct store *store, void *self, pawl_error *err) {
    struct take_call *call = self;
    struct alert_turn *turn = &call->turn;
    struct query q = pg_write(store, POSTGRES_Q_ALERT_TURN_TAKE, "alert_turn_take", call->arena, PAWL_OK);
    SEND(&q, call->interval_ms);
    pawl_status status = pg_row(&q, &alert_turn_shape, turn, err);
    bool noted = status == PAWL_BUSY;
    if (noted || (status == PAWL_OK && turn->taken))
        status = postgres_alert_rules(store, (pawl_str){NULL, 0}, call->arena, &turn->rules, err);
    if (noted || (status == PAWL_OK && turn->taken))
        status = fleet_facts_gather(store, call->arena, &turn->facts, err);
    return status;
}

/* Who is early reads the facts in vain: that is cheaper than a second transaction for who is not. */
pawl_status postgres_alert_turn_take(struct store *store, int64_t interval_ms, struct arena *arena,
                                     struct alert_turn *out, pawl_error *err) {
    struct take_call call = {interval_ms, arena, {.taken = false}};
    TRY(check_alert_interval(interval_ms, err));
    TRY(pg_together(store, "alert_turn_take", EFFECT_WRITE, take_turn, &call, err));
    *out = call.turn;
    return PAWL_OK;
}

/* Appends the statements of the news; *used grows. */
static pawl_status news_add(const struct alert_news *in, struct arena *arena, struct statement *statements,
                            size_t *used, pawl_error *err) {
    struct messages_put put = alert_put(in);
    struct put_result result = {0};
    if (in->change_count > 0) {
        struct statement *tell = &statements[(*used)++];
        *tell = pg_statement_new(POSTGRES_Q_ALERT_TELL, arena);
        PARAMS(&tell->params, ROWS_OF(alert_change_new_shape, in->changes, in->change_count),
               ROWS_OF(alert_delivery_shape, in->deliveries, in->delivery_count));
    }
    if (in->message_count == 0)
        return PAWL_OK;
    return pg_put_prepare(&put, arena, &statements[(*used)++], &result, err);
}

static struct statement verdicts_prepare(const struct alert_turn_end *in, struct arena *arena) {
    struct statement statement = pg_statement_new(POSTGRES_Q_ALERT_TURN_END, arena);
    struct params *p = &statement.params;
    PARAMS(p, in->token, str_absent(in->window) ? STR("") : in->window,
           ROWS_OF(alert_verdict_shape, in->verdicts, in->verdict_count), PAWL_ALERT_KEEP_MS);
    return statement;
}

/* The end of a turn, or with NULL no turn, and its news: all of it, or nothing. */
static pawl_status news_run(struct store *store, const char *op, const struct alert_turn_end *turn,
                            const struct alert_news *news, pawl_error *err) {
    struct statement statements[NEWS_STATEMENTS] = {{.result = NULL}, {.result = NULL}, {.result = NULL}};
    size_t used = 0;
    struct postgres *self = postgres_of(store);
    pawl_status status = check_alert_news(news, err);
    if (status != PAWL_OK)
        return status;
    arena_reset(self->scratch);
    if (turn != NULL)
        statements[used++] = verdicts_prepare(turn, self->scratch);
    status = news_add(news, self->scratch, statements, &used, err);
    if (status == PAWL_OK && used == 1)
        status = pg_statement_run(self, op, statements, EFFECT_WRITE, err);
    else if (status == PAWL_OK && used > 1)
        status = pg_statements_run(self, op, statements, used, EFFECT_WRITE, err);
    for (size_t i = 0; i < used; i++)
        pg_statement_clear(&statements[i]);
    return status;
}

pawl_status postgres_alert_turn_end(struct store *store, const struct alert_turn_end *in, pawl_error *err) {
    assert(in != NULL);
    return news_run(store, "alert_turn_end", in, &in->news, err);
}

pawl_status postgres_alert_tell(struct store *store, const struct alert_news *in, pawl_error *err) {
    return news_run(store, "alert_tell", NULL, in, err);
}

/* ---- History */

/* ---- Deliveries */

pawl_status postgres_alert_notices_take(struct store *store, pawl_str target, int64_t lease_ms, int limit,
                                        struct arena *arena, struct alert_notices *out, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_ALERT_NOTICES_TAKE, "alert_notices_take", arena,
                              check_alert_take(target, lease_ms, limit, err));
    SEND(&q, target, lease_ms, limit);
    pawl_status status = pg_list(&q, &alert_notice_shape, ROWS_OUT(out, notices), err);
    for (size_t i = 0; status == PAWL_OK && i < out->count; i++)
        out->notices[i].age_ms -= out->notices[i].change.at_ms; /* the column is the store's time */
    return status;
}

pawl_status postgres_alert_notice_end(struct store *store, const struct alert_notice_end *in,
                                      pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_ALERT_NOTICE_END, "alert_notice_end", NULL,
                              check_alert_notice_end(in, err));
    SEND(&q, in->number, in->token,
         value_enum(in->delivered      ? NOTICE_DELIVERED
                    : in->delay_ms < 0 ? NOTICE_GIVEN_UP
                                       : NOTICE_WAITING),
         in->delay_ms > 0 ? in->delay_ms : 0, in->error);
    return pg_done(&q, err);
}

pawl_status postgres_alert_pressure(struct store *store, int64_t *percent, pawl_error *err) {
    struct query q = pg_read(store, POSTGRES_Q_ALERT_PRESSURE, "alert_pressure", NULL, PAWL_OK);
    return pg_int(&q, percent, err);
}
