/* Alerts: rules, turns, what changed, and what has to be delivered. */
#include "store/alerts.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "store/postgres/row.h"

enum { NEWS_STATEMENTS = 3 };

/* ---- Rules */

pawl_status postgres_alert_rules(struct store *store, pawl_str name, struct arena *arena,
                                 struct alert_rows *out, pawl_error *err) {
    struct row_list list;
    struct statement statement = pg_statement_new(POSTGRES_Q_ALERT_RULES, arena);
    pg_params_text(&statement.params, name);
    pawl_status status = pg_rows_run(store, &statement, "alert_rules", &alert_shape, &list, err);
    if (status == PAWL_OK)
        *out = (struct alert_rows){list.rows, list.count, pg_rows_now(&statement, &alert_shape)};
    pg_statement_clear(&statement);
    if (status == PAWL_OK && list.count == 0)
        status = store->ops->core.clock_read(store, &out->now_ms, err);
    return status;
}

pawl_status postgres_alert_rule_put(struct store *store, const struct alert_rule *in, int64_t *version,
                                    pawl_error *err) {
    pawl_status status = alert_rule_check(in, err);
    if (status != PAWL_OK)
        return status;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return pg_answer_no_memory("alert_rule_put", err);
    struct statement statement = pg_statement_new(POSTGRES_Q_ALERT_RULE_PUT, arena);
    struct params *p = &statement.params;
    pg_params_text(p, in->name);
    pg_params_text(p, in->metric);
    pg_params_text(p, in->summary);
    pg_params_text(p, str_absent(in->targets) ? STR("") : in->targets);
    pg_params_small(p, (int)in->side);
    pg_params_small(p, (int)in->severity);
    pg_params_big(p, in->threshold);
    pg_params_big(p, in->clear_threshold);
    pg_params_big(p, in->for_ms);
    pg_params_big(p, in->clear_ms);
    pg_params_bool(p, in->enabled);
    pg_params_big(p, in->version);
    pg_params_int(p, PAWL_ALERT_RULES_MAX);
    status = pg_statement_run(postgres_of(store), "alert_rule_put", &statement, EFFECT_WRITE, err);
    if (status == PAWL_OK && PQntuples(statement.result) != 1)
        status = pg_answer_malformed("alert_rule_put", err);
    if (status == PAWL_OK)
        *version = pg_cell_int((struct cell){statement.result, 0, 0});
    pg_statement_clear(&statement);
    arena_free(arena);
    return status;
}

pawl_status postgres_alert_rule_remove(struct store *store, pawl_str name, pawl_error *err) {
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return pg_answer_no_memory("alert_rule_remove", err);
    struct statement statement = pg_statement_new(POSTGRES_Q_ALERT_RULE_REMOVE, arena);
    pg_params_text(&statement.params, name);
    return pg_void_run(store, "alert_rule_remove", &statement, arena, err);
}

pawl_status postgres_alert_silence(struct store *store, const struct alert_silence *in, pawl_error *err) {
    pawl_status status = check_alert_silence(in, err);
    if (status != PAWL_OK)
        return status;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return pg_answer_no_memory("alert_silence", err);
    struct statement statement = pg_statement_new(POSTGRES_Q_ALERT_SILENCE, arena);
    pg_params_text(&statement.params, in->name);
    pg_params_big(&statement.params, in->until_ms);
    pg_params_text(&statement.params, in->reason);
    pg_params_text(&statement.params, in->actor);
    return pg_void_run(store, "alert_silence", &statement, arena, err);
}

/* ---- Turns */

pawl_status postgres_alert_turn_take(struct store *store, int64_t interval_ms, struct arena *arena,
                                     struct alert_turn *out, pawl_error *err) {
    pawl_status status = check_alert_interval(interval_ms, err);
    if (status != PAWL_OK)
        return status;
    struct alert_turn turn = {.taken = false};
    bool failed = false;
    struct statement statement = pg_statement_new(POSTGRES_Q_ALERT_TURN_TAKE, arena);
    pg_params_big(&statement.params, interval_ms);
    status = pg_statement_run(postgres_of(store), "alert_turn_take", &statement, EFFECT_WRITE, err);
    if (status == PAWL_OK && PQntuples(statement.result) != 1)
        status = pg_answer_malformed("alert_turn_take", err);
    if (status == PAWL_OK) {
        const PGresult *r = statement.result;
        turn = (struct alert_turn){.taken = pg_cell_bool((struct cell){r, 0, 0}),
                                   .token = pg_cell_int((struct cell){r, 0, 1}),
                                   .now_ms = pg_cell_int((struct cell){r, 0, 2}),
                                   .next_ms = pg_cell_int((struct cell){r, 0, 3}),
                                   .window = pg_cell_text((struct cell){r, 0, 4}, arena, &failed)};
        if (failed)
            status = pg_answer_no_memory("alert_turn_take", err);
    }
    pg_statement_clear(&statement);
    /* Rules that are changed after this are noticed at the end of the turn. */
    if (status == PAWL_OK && turn.taken)
        status = postgres_alert_rules(store, (pawl_str){NULL, 0}, arena, &turn.rules, err);
    if (status == PAWL_OK)
        *out = turn;
    return status;
}

static struct statement news_prepare(const struct alert_news *in, struct arena *arena) {
    struct statement statement = pg_statement_new(POSTGRES_Q_ALERT_TELL, arena);
    struct params *p = &statement.params;
    pg_params_uuids(p, STRIDED(in->changes, id, in->change_count));
    pg_params_texts(p, STRIDED(in->changes, rule, in->change_count));
    pg_params_smalls(p, STRIDED(in->changes, event, in->change_count));
    pg_params_bigs(p, STRIDED(in->changes, value, in->change_count));
    pg_params_texts(p, STRIDED(in->changes, detail, in->change_count));
    pg_params_uuids(p, STRIDED(in->deliveries, change, in->delivery_count));
    pg_params_texts(p, STRIDED(in->deliveries, target, in->delivery_count));
    return statement;
}

/* Appends the statements of the news; *used grows. */
static pawl_status news_add(const struct alert_news *in, struct arena *arena, struct statement *statements,
                            size_t *used, pawl_error *err) {
    struct messages_put put = alert_put(in);
    struct put_result result = {0};
    if (in->change_count > 0)
        statements[(*used)++] = news_prepare(in, arena);
    if (in->message_count == 0)
        return PAWL_OK;
    return pg_put_prepare(&put, arena, &statements[(*used)++], &result, err);
}

static struct statement verdicts_prepare(const struct alert_turn_end *in, struct arena *arena, int *told) {
    const struct alert_verdict *v = in->verdicts;
    struct statement statement = pg_statement_new(POSTGRES_Q_ALERT_TURN_END, arena);
    struct params *p = &statement.params;
    for (size_t i = 0; i < in->verdict_count; i++)
        told[i] = v[i].state.told;
    pg_params_big(p, in->token);
    pg_params_text(p, str_absent(in->window) ? STR("") : in->window);
    pg_params_texts(p, STRIDED(v, rule, in->verdict_count));
    pg_params_bigs(p, STRIDED(v, version, in->verdict_count));
    pg_params_smalls(p, STRIDED(v, state.phase, in->verdict_count));
    pg_params_bigs(p, STRIDED(v, state.since_ms, in->verdict_count));
    pg_params_bigs(p, STRIDED(v, state.turning_ms, in->verdict_count));
    pg_params_smalls(p, (struct strided){told, sizeof *told, in->verdict_count});
    pg_params_bigs(p, STRIDED(v, state.value, in->verdict_count));
    pg_params_big(p, PAWL_ALERT_KEEP_MS);
    return statement;
}

/* All of the statements, or none. */
static pawl_status run_all(struct store *store, const char *op, struct statement *statements, size_t count,
                           pawl_error *err) {
    pawl_status status = PAWL_OK;
    if (count == 1)
        status = pg_statement_run(postgres_of(store), op, statements, EFFECT_WRITE, err);
    else if (count > 1)
        status = pg_statements_run(postgres_of(store), op, statements, count, err);
    for (size_t i = 0; i < count; i++)
        pg_statement_clear(&statements[i]);
    return status;
}

pawl_status postgres_alert_turn_end(struct store *store, const struct alert_turn_end *in, pawl_error *err) {
    struct statement statements[NEWS_STATEMENTS] = {{.result = NULL}, {.result = NULL}, {.result = NULL}};
    size_t used = 0;
    pawl_status status = check_alert_news(&in->news, err);
    if (status != PAWL_OK)
        return status;
    struct arena *arena = arena_create(0);
    int *told = arena != NULL ? arena_array(arena, in->verdict_count, sizeof *told) : NULL;
    if (told == NULL) {
        arena_free(arena);
        return pg_answer_no_memory("alert_turn_end", err);
    }
    statements[used++] = verdicts_prepare(in, arena, told);
    status = news_add(&in->news, arena, statements, &used, err);
    if (status == PAWL_OK)
        status = run_all(store, "alert_turn_end", statements, used, err);
    arena_free(arena);
    return status;
}

pawl_status postgres_alert_tell(struct store *store, const struct alert_news *in, pawl_error *err) {
    struct statement statements[NEWS_STATEMENTS] = {{.result = NULL}, {.result = NULL}, {.result = NULL}};
    size_t used = 0;
    pawl_status status = check_alert_news(in, err);
    if (status != PAWL_OK)
        return status;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return pg_answer_no_memory("alert_tell", err);
    status = news_add(in, arena, statements, &used, err);
    if (status == PAWL_OK)
        status = run_all(store, "alert_tell", statements, used, err);
    arena_free(arena);
    return status;
}

/* ---- History */

pawl_status postgres_alert_changes(struct store *store, pawl_str rule, int64_t before, int limit,
                                   struct arena *arena, struct alert_changes *out, pawl_error *err) {
    struct row_list list;
    struct statement statement = pg_statement_new(POSTGRES_Q_ALERT_CHANGES, arena);
    pg_params_text(&statement.params, rule);
    pg_params_big(&statement.params, before);
    pg_params_int(&statement.params, limit);
    pawl_status status = pg_rows_run(store, &statement, "alert_changes", &alert_change_shape, &list, err);
    if (status == PAWL_OK)
        *out = (struct alert_changes){list.rows, list.count};
    pg_statement_clear(&statement);
    return status;
}

/* ---- Deliveries */

pawl_status postgres_alert_notices_take(struct store *store, pawl_str target, int64_t lease_ms, int limit,
                                        struct arena *arena, struct alert_notices *out, pawl_error *err) {
    pawl_status status = check_alert_take(target, lease_ms, limit, err);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_ALERT_NOTICES_TAKE, arena);
    pg_params_text(&statement.params, target);
    pg_params_big(&statement.params, lease_ms);
    pg_params_int(&statement.params, limit);
    status = pg_statement_run(postgres_of(store), "alert_notices_take", &statement, EFFECT_WRITE, err);
    int count = status == PAWL_OK ? PQntuples(statement.result) : 0;
    struct alert_notice *rows = arena_array(arena, (size_t)count, sizeof *rows);
    bool failed = rows == NULL;
    for (int i = 0; !failed && i < count; i++) {
        const PGresult *r = statement.result;
        rows[i] = (struct alert_notice){.number = pg_cell_int((struct cell){r, i, 0}),
                                        .token = pg_cell_int((struct cell){r, i, 1}),
                                        .attempt = (int)pg_cell_int((struct cell){r, i, 2})};
        pg_row_take((struct cell){r, i, 3}, &alert_told_shape, arena, &rows[i].change, &failed);
        rows[i].age_ms = pg_cell_int((struct cell){r, i, 10}) - rows[i].change.at_ms;
    }
    if (status == PAWL_OK && failed)
        status = pg_answer_no_memory("alert_notices_take", err);
    if (status == PAWL_OK)
        *out = (struct alert_notices){rows, (size_t)count};
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_alert_notice_end(struct store *store, const struct alert_notice_end *in,
                                      pawl_error *err) {
    pawl_status status = check_alert_notice_end(in, err);
    if (status != PAWL_OK)
        return status;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return pg_answer_no_memory("alert_notice_end", err);
    struct statement statement = pg_statement_new(POSTGRES_Q_ALERT_NOTICE_END, arena);
    struct params *p = &statement.params;
    pg_params_big(p, in->number);
    pg_params_big(p, in->token);
    pg_params_small(p, in->delivered      ? NOTICE_DELIVERED
                       : in->delay_ms < 0 ? NOTICE_GIVEN_UP
                                          : NOTICE_WAITING);
    pg_params_big(p, in->delay_ms > 0 ? in->delay_ms : 0);
    pg_params_text(p, in->error);
    return pg_void_run(store, "alert_notice_end", &statement, arena, err);
}

pawl_status postgres_alert_pressure(struct store *store, int64_t *percent, pawl_error *err) {
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return pg_answer_no_memory("alert_pressure", err);
    struct statement statement = pg_statement_new(POSTGRES_Q_ALERT_PRESSURE, arena);
    pawl_status status = pg_statement_run(postgres_of(store), "alert_pressure", &statement, EFFECT_READ, err);
    if (status == PAWL_OK && PQntuples(statement.result) != 1)
        status = pg_answer_malformed("alert_pressure", err);
    if (status == PAWL_OK)
        *percent = pg_cell_int((struct cell){statement.result, 0, 0});
    pg_statement_clear(&statement);
    arena_free(arena);
    return status;
}
