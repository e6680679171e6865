/* Duties, deliveries, pauses and recorded actions on PostgreSQL. */
#include "store/relay.h"

#include "base/hash.h"
#include "store/postgres/calls.h"

pawl_status postgres_duty_take(struct store *store, const struct duty_take *in, struct duty_grant *out,
                               pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_DUTY_TAKE, "duty_take", NULL, check_duty(in, err));
    SEND(&q, ROW_OF(duty_take_shape, in));
    return pg_row(&q, &duty_grant_shape, out, err);
}

pawl_status postgres_duty_leave(struct store *store, pawl_str name, int64_t token, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_DUTY_LEAVE, "duty_leave", NULL, PAWL_OK);
    SEND(&q, name, token);
    return pg_done(&q, err);
}

pawl_status postgres_duties(struct store *store, struct arena *arena, struct duty_rows *out,
                            pawl_error *err) {
    struct query q = pg_read(store, POSTGRES_Q_VIEW_DUTIES, "duties", arena, PAWL_OK);
    return pg_list(&q, &duty_shape, ROWS_OUT(out, rows), err);
}

static void duty_params(const struct messages_receive *in, struct params *p) {
    PARAMS(p, in->duty, in->instance, in->token);
}

static pawl_status receive_prepare(const struct messages_receive *in, struct arena *arena,
                                   struct statement *statement, struct put_result *out, pawl_error *err) {
    const pawl_outgoing *m = in->messages;
    int64_t *hashes = arena_array(arena, in->count, sizeof(*hashes));
    out->answers = arena_array(arena, in->count, sizeof(*out->answers));
    out->ids = arena_array(arena, in->count, sizeof(*out->ids));
    if (hashes == NULL || out->answers == NULL || out->ids == NULL)
        return pg_answer_no_memory("messages_receive", err);
    for (size_t i = 0; i < in->count; i++) {
        out->ids[i] = m[i].id;
        TRY(hash_payload(m[i].payload, &hashes[i], err));
    }
    *statement = pg_statement_new(POSTGRES_Q_RECEIVE_MANY, arena);
    struct params *p = &statement->params;
    duty_params(in, p);
    PARAMS(p, LIST_OF(m, id, in->count), ROWS_OF(message_new_shape, m, in->count), in->consumer,
           LIST(hashes, in->count));
    return PAWL_OK;
}

static pawl_status refuse_prepare(const struct messages_receive *in, struct arena *arena,
                                  struct statement *statement, pawl_error *err) {
    int64_t *hashes = arena_array(arena, in->malformed_count, sizeof(*hashes));
    if (hashes == NULL)
        return pg_answer_no_memory("messages_receive", err);
    for (size_t i = 0; i < in->malformed_count; i++) {
        TRY(hash_payload(in->malformed[i].payload, &hashes[i], err));
    }
    *statement = pg_statement_new(POSTGRES_Q_REFUSE_MANY, arena);
    struct params *p = &statement->params;
    duty_params(in, p);
    PARAMS(p, in->consumer, in->topic, ROWS_OF(malformed_shape, in->malformed, in->malformed_count),
           LIST(hashes, in->malformed_count));
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
        status =
            pg_statements_run(postgres_of(store), "messages_receive", statements, used, EFFECT_WRITE, err);
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

pawl_status postgres_refused_remove(struct store *store, int64_t number, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_REFUSED_REMOVE, "refused_remove", NULL, PAWL_OK);
    SEND(&q, number);
    return pg_done(&q, err);
}

pawl_status postgres_pause_set(struct store *store, const struct pause_row *in, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_PAUSE_SET, "pause_set", NULL, check_pause(in, err));
    SEND(&q, ROW_OF(pause_new_shape, in));
    return pg_done(&q, err);
}

pawl_status postgres_pause_clear(struct store *store, enum pause_scope scope, pawl_str name,
                                 pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_PAUSE_CLEAR, "pause_clear", NULL, PAWL_OK);
    SEND(&q, scope, name);
    return pg_done(&q, err);
}

pawl_status postgres_audit_add(struct store *store, const struct audit_row *in, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_AUDIT_ADD, "audit_add", NULL, check_audit(in, err));
    SEND(&q, in->actor, in->action, in->detail);
    return pg_done(&q, err);
}
