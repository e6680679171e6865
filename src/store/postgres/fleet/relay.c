/* Duties, what came in and was refused, pauses and the audit. */
#include "store/relay.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"
#include "store/postgres/row.h"

pawl_status pg_void_run(struct store *store, const char *op, struct statement *statement, struct arena *arena,
                        pawl_error *err) {
    pawl_status status = pg_statement_run(postgres_of(store), op, statement, EFFECT_WRITE, err);
    pg_statement_clear(statement);
    arena_free(arena);
    return status;
}

pawl_status postgres_duty_take(struct store *store, const struct duty_take *in, struct duty_grant *out,
                               pawl_error *err) {
    pawl_status status = check_duty(in, err);
    if (status != PAWL_OK)
        return status;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return pg_answer_no_memory("duty_take", err);
    struct statement statement = pg_statement_new(POSTGRES_Q_DUTY_TAKE, arena);
    pg_params_text(&statement.params, in->name);
    pg_params_uuid(&statement.params, in->instance);
    pg_params_big(&statement.params, in->lease_ms);
    status = pg_statement_run(postgres_of(store), "duty_take", &statement, EFFECT_WRITE, err);
    if (status == PAWL_OK && PQntuples(statement.result) != 1)
        status = pg_answer_malformed("duty_take", err);
    if (status == PAWL_OK) {
        const PGresult *r = statement.result;
        *out = (struct duty_grant){.held = pg_cell_bool((struct cell){r, 0, 0}),
                                   .token = pg_cell_int((struct cell){r, 0, 1}),
                                   .instance = pg_cell_uuid((struct cell){r, 0, 2}),
                                   .now_ms = pg_cell_int((struct cell){r, 0, 3}),
                                   .lease_until_ms = pg_cell_int((struct cell){r, 0, 4})};
    }
    pg_statement_clear(&statement);
    arena_free(arena);
    return status;
}

pawl_status postgres_duty_leave(struct store *store, pawl_str name, int64_t token, pawl_error *err) {
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return pg_answer_no_memory("duty_leave", err);
    struct statement statement = pg_statement_new(POSTGRES_Q_DUTY_LEAVE, arena);
    pg_params_text(&statement.params, name);
    pg_params_big(&statement.params, token);
    return pg_void_run(store, "duty_leave", &statement, arena, err);
}

pawl_status postgres_duties(struct store *store, struct arena *arena, struct duty_rows *out,
                            pawl_error *err) {
    struct row_list list;
    struct statement statement = pg_statement_new(POSTGRES_Q_VIEW_DUTIES, arena);
    pawl_status status = pg_rows_run(store, &statement, "duties", &duty_shape, &list, err);
    if (status == PAWL_OK)
        *out = (struct duty_rows){list.rows, list.count};
    pg_statement_clear(&statement);
    return status;
}

static void duty_params(const struct messages_receive *in, struct params *p) {
    pg_params_text(p, in->duty);
    pg_params_uuid(p, in->instance);
    pg_params_big(p, in->token);
}

static pawl_status receive_prepare(const struct messages_receive *in, struct arena *arena,
                                   struct statement *statement, struct put_result *out, pawl_error *err) {
    const struct message_new *m = in->messages;
    int64_t *hashes = arena_array(arena, in->count, sizeof(*hashes));
    out->answers = arena_array(arena, in->count, sizeof(*out->answers));
    out->ids = arena_array(arena, in->count, sizeof(*out->ids));
    if (hashes == NULL || out->answers == NULL || out->ids == NULL)
        return pg_answer_no_memory("messages_receive", err);
    for (size_t i = 0; i < in->count; i++) {
        out->ids[i] = m[i].id;
        pawl_status status = hash_payload(m[i].payload, &hashes[i], err);
        if (status != PAWL_OK)
            return status;
    }
    *statement = pg_statement_new(POSTGRES_Q_RECEIVE_MANY, arena);
    struct params *p = &statement->params;
    duty_params(in, p);
    pg_params_uuids(p, STRIDED(m, id, in->count));
    pg_messages_params(m, in->count, p);
    pg_params_text(p, in->consumer);
    pg_params_bigs(p, (struct strided){hashes, sizeof(*hashes), in->count});
    return PAWL_OK;
}

static pawl_status refuse_prepare(const struct messages_receive *in, struct arena *arena,
                                  struct statement *statement, pawl_error *err) {
    int64_t *hashes = arena_array(arena, in->malformed_count, sizeof(*hashes));
    if (hashes == NULL)
        return pg_answer_no_memory("messages_receive", err);
    for (size_t i = 0; i < in->malformed_count; i++) {
        pawl_status status = hash_payload(in->malformed[i].payload, &hashes[i], err);
        if (status != PAWL_OK)
            return status;
    }
    *statement = pg_statement_new(POSTGRES_Q_REFUSE_MANY, arena);
    struct params *p = &statement->params;
    duty_params(in, p);
    pg_params_text(p, in->consumer);
    pg_params_text(p, in->topic);
    pg_params_texts(p, STRIDED(in->malformed, message_id, in->malformed_count));
    pg_params_texts(p, STRIDED(in->malformed, detail, in->malformed_count));
    pg_params_texts(p, STRIDED(in->malformed, payload, in->malformed_count));
    pg_params_bigs(p, (struct strided){hashes, sizeof(*hashes), in->malformed_count});
    return PAWL_OK;
}

pawl_status postgres_messages_receive(struct store *store, const struct messages_receive *in,
                                      struct arena *arena, struct put_result *out, pawl_error *err) {
    struct statement statements[2] = {{.result = NULL}, {.result = NULL}};
    struct put_result result = {0};
    size_t used = 1;
    pawl_status status = check_receive(in, err);
    if (status == PAWL_OK)
        status = receive_prepare(in, arena, &statements[0], &result, err);
    if (status == PAWL_OK && in->malformed_count > 0)
        status = refuse_prepare(in, arena, &statements[used++], err);
    if (status == PAWL_OK && used == 1)
        status = pg_statement_run(postgres_of(store), "messages_receive", &statements[0], EFFECT_WRITE, err);
    else if (status == PAWL_OK)
        status = pg_statements_run(postgres_of(store), "messages_receive", statements, used, err);
    if (status == PAWL_OK && in->count > 0 &&
        (PQntuples(statements[0].result) != 1 ||
         !pg_cell_array_ints((struct cell){statements[0].result, 0, 0}, (int *)result.answers, in->count)))
        status = pg_answer_malformed("messages_receive", err);
    if (status == PAWL_OK)
        *out = result;
    pg_statement_clear(&statements[0]);
    pg_statement_clear(&statements[1]);
    return status;
}

pawl_status postgres_refused(struct store *store, int64_t after, int limit, struct arena *arena,
                             struct refused_rows *out, pawl_error *err) {
    struct row_list list;
    struct statement statement = pg_statement_new(POSTGRES_Q_VIEW_REFUSED, arena);
    pg_params_big(&statement.params, after);
    pg_params_int(&statement.params, limit);
    pawl_status status = pg_rows_run(store, &statement, "refused", &refused_shape, &list, err);
    if (status == PAWL_OK)
        *out = (struct refused_rows){list.rows, list.count};
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_refused_remove(struct store *store, int64_t number, pawl_error *err) {
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return pg_answer_no_memory("refused_remove", err);
    struct statement statement = pg_statement_new(POSTGRES_Q_REFUSED_REMOVE, arena);
    pg_params_big(&statement.params, number);
    return pg_void_run(store, "refused_remove", &statement, arena, err);
}

pawl_status postgres_pause_set(struct store *store, const struct pause_row *in, pawl_error *err) {
    pawl_status status = check_pause(in, err);
    if (status != PAWL_OK)
        return status;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return pg_answer_no_memory("pause_set", err);
    struct statement statement = pg_statement_new(POSTGRES_Q_PAUSE_SET, arena);
    pg_params_small(&statement.params, (int)in->scope);
    pg_params_text(&statement.params, in->name);
    pg_params_text(&statement.params, in->reason);
    pg_params_text(&statement.params, in->actor);
    return pg_void_run(store, "pause_set", &statement, arena, err);
}

pawl_status postgres_pause_clear(struct store *store, enum pause_scope scope, pawl_str name,
                                 pawl_error *err) {
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return pg_answer_no_memory("pause_clear", err);
    struct statement statement = pg_statement_new(POSTGRES_Q_PAUSE_CLEAR, arena);
    pg_params_small(&statement.params, (int)scope);
    pg_params_text(&statement.params, name);
    return pg_void_run(store, "pause_clear", &statement, arena, err);
}

pawl_status postgres_pauses(struct store *store, struct arena *arena, struct pause_rows *out,
                            pawl_error *err) {
    struct row_list list;
    struct statement statement = pg_statement_new(POSTGRES_Q_VIEW_PAUSES, arena);
    pawl_status status = pg_rows_run(store, &statement, "pauses", &pause_shape, &list, err);
    if (status == PAWL_OK)
        *out = (struct pause_rows){list.rows, list.count};
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_audit_add(struct store *store, const struct audit_row *in, pawl_error *err) {
    pawl_status status = check_audit(in, err);
    if (status != PAWL_OK)
        return status;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return pg_answer_no_memory("audit_add", err);
    struct statement statement = pg_statement_new(POSTGRES_Q_AUDIT_ADD, arena);
    pg_params_text(&statement.params, in->actor);
    pg_params_text(&statement.params, in->action);
    pg_params_text(&statement.params, in->detail);
    return pg_void_run(store, "audit_add", &statement, arena, err);
}

pawl_status postgres_audits(struct store *store, int64_t before, int limit, struct arena *arena,
                            struct audit_rows *out, pawl_error *err) {
    struct row_list list;
    struct statement statement = pg_statement_new(POSTGRES_Q_VIEW_AUDITS, arena);
    pg_params_big(&statement.params, before);
    pg_params_int(&statement.params, limit);
    pawl_status status = pg_rows_run(store, &statement, "audits", &audit_shape, &list, err);
    if (status == PAWL_OK)
        *out = (struct audit_rows){list.rows, list.count};
    pg_statement_clear(&statement);
    return status;
}
