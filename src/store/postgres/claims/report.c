/* Reporting what became of granted messages, and the logs of receptors and perspectives. */
#include "base/error.h"
#include "base/str.h"
#include "store/postgres/calls.h"

struct statement pg_statement_new(enum postgres_query query, struct arena *arena) {
    struct statement statement = {.query = query};
    pg_params_init(&statement.params, arena);
    return statement;
}

void pg_complete_prepare(const struct messages_complete *in, struct arena *arena,
                         struct statement *statement) {
    *statement = pg_statement_new(POSTGRES_Q_COMPLETE, arena);
    struct params *p = &statement->params;
    pg_params_uuid(p, in->instance);
    pg_params_small(p, (int)in->kind);
    pg_params_bigs(p, STRIDED(in->items, ref.token, in->count));
    pg_params_uuids(p, STRIDED(in->items, ref.id, in->count));
    pg_params_ints(p, STRIDED(in->items, status, in->count));
    pg_params_bool(p, in->debug);
}

pawl_status pg_fail_prepare(const struct messages_fail *in, struct arena *arena, struct statement *statement,
                            pawl_error *err) {
    pawl_str *errors = arena_array(arena, in->count, sizeof *errors);
    if (errors == NULL)
        return pg_answer_no_memory("messages_fail", err);
    for (size_t i = 0; i < in->count; i++) {
        pawl_status status = store_error_text(arena, in->items[i].error, in->items[i].stack, &errors[i], err);
        if (status != PAWL_OK)
            return status;
    }
    *statement = pg_statement_new(POSTGRES_Q_FAIL, arena);
    struct params *p = &statement->params;
    pg_params_uuid(p, in->instance);
    pg_params_small(p, (int)in->kind);
    pg_params_bigs(p, STRIDED(in->items, ref.token, in->count));
    pg_params_uuids(p, STRIDED(in->items, ref.id, in->count));
    pg_params_texts(p, (struct strided){errors, sizeof *errors, in->count});
    pg_params_smalls(p, STRIDED(in->items, error_class, in->count));
    pg_params_bigs(p, STRIDED(in->items, delay_ms, in->count));
    pg_params_smalls(p, STRIDED(in->items, policy, in->count));
    pg_params_ints(p, STRIDED(in->items, max_attempts, in->count));
    return PAWL_OK;
}

void pg_release_prepare(const struct messages_release *in, struct arena *arena, struct statement *statement) {
    *statement = pg_statement_new(POSTGRES_Q_RELEASE, arena);
    struct params *p = &statement->params;
    pg_params_uuid(p, in->instance);
    pg_params_small(p, (int)in->kind);
    pg_params_bigs(p, STRIDED(in->items, ref.token, in->count));
    pg_params_uuids(p, STRIDED(in->items, ref.id, in->count));
    pg_params_bigs(p, STRIDED(in->items, delay_ms, in->count));
    pg_params_texts(p, STRIDED(in->items, handler, in->count));
}

void pg_renew_prepare(const struct messages_renew *in, struct arena *arena, struct statement *statement) {
    *statement = pg_statement_new(POSTGRES_Q_RENEW, arena);
    struct params *p = &statement->params;
    pg_params_uuid(p, in->instance);
    pg_params_small(p, (int)in->kind);
    pg_params_bigs(p, STRIDED(in->items, token, in->count));
    pg_params_uuids(p, STRIDED(in->items, id, in->count));
    pg_params_big(p, in->lease_ms);
}

void pg_receptors_prepare(const struct receptor_report *reports, size_t count, struct arena *arena,
                          struct statement *statement) {
    *statement = pg_statement_new(POSTGRES_Q_RECEPTORS_REPORT, arena);
    pg_params_uuids(&statement->params, STRIDED(reports, event_id, count));
    pg_params_texts(&statement->params, STRIDED(reports, receptor, count));
    pg_params_ints(&statement->params, STRIDED(reports, status, count));
    pg_params_texts(&statement->params, STRIDED(reports, error, count));
}

void pg_checkpoints_prepare(const struct checkpoints_report *in, struct arena *arena,
                            struct statement *statement) {
    *statement = pg_statement_new(POSTGRES_Q_CHECKPOINTS_REPORT, arena);
    struct params *p = &statement->params;
    pg_params_uuid(p, in->instance);
    pg_params_texts(p, STRIDED(in->reports, stream, in->count));
    pg_params_texts(p, STRIDED(in->reports, perspective, in->count));
    pg_params_bigs(p, STRIDED(in->reports, version, in->count));
    pg_params_bigs(p, STRIDED(in->reports, token, in->count));
    pg_params_smalls(p, STRIDED(in->reports, status, in->count));
    pg_params_texts(p, STRIDED(in->reports, error, in->count));
    pg_params_bigs(p, STRIDED(in->reports, delay_ms, in->count));
}

pawl_status pg_answers_take(const char *op, const PGresult *result, size_t count, struct arena *arena,
                            struct answer_list *out, pawl_error *err) {
    struct answer_list list = {.count = count};
    bool outcomes = PQnfields(result) > 1;
    list.answers = arena_array(arena, count, sizeof *list.answers);
    list.outcomes = outcomes ? arena_array(arena, count, sizeof *list.outcomes) : NULL;
    if (list.answers == NULL || (outcomes && list.outcomes == NULL))
        return pg_answer_no_memory(op, err);
    if (PQntuples(result) != 1 ||
        !pg_cell_array_ints((struct cell){result, 0, 0}, (int *)list.answers, count) ||
        (outcomes && !pg_cell_array_ints((struct cell){result, 0, 1}, (int *)list.outcomes, count)))
        return pg_answer_malformed(op, err);
    *out = list;
    return PAWL_OK;
}

pawl_status pg_answers_run(struct store *store, struct statement *statement,
                           const struct answers_wanted *wanted, pawl_error *err) {
    pawl_status status = pg_statement_run(postgres_of(store), wanted->op, statement, EFFECT_WRITE, err);
    if (status == PAWL_OK)
        status =
            pg_answers_take(wanted->op, statement->result, wanted->count, wanted->arena, wanted->out, err);
    pg_statement_clear(statement);
    return status;
}

pawl_status postgres_messages_complete(struct store *store, const struct messages_complete *in,
                                       struct arena *arena, struct answer_list *out, pawl_error *err) {
    struct statement statement = {.result = NULL};
    pawl_status status = check_complete(in, err);
    if (status != PAWL_OK)
        return status;
    pg_complete_prepare(in, arena, &statement);
    return pg_answers_run(store, &statement,
                          &(struct answers_wanted){"messages_complete", in->count, arena, out}, err);
}

pawl_status postgres_messages_fail(struct store *store, const struct messages_fail *in, struct arena *arena,
                                   struct answer_list *out, pawl_error *err) {
    struct statement statement = {.result = NULL};
    pawl_status status = check_fail(in, err);
    if (status == PAWL_OK)
        status = pg_fail_prepare(in, arena, &statement, err);
    if (status != PAWL_OK)
        return status;
    return pg_answers_run(store, &statement, &(struct answers_wanted){"messages_fail", in->count, arena, out},
                          err);
}

pawl_status postgres_messages_release(struct store *store, const struct messages_release *in,
                                      struct arena *arena, struct answer_list *out, pawl_error *err) {
    struct statement statement = {.result = NULL};
    pawl_status status = check_release(in, err);
    if (status != PAWL_OK)
        return status;
    pg_release_prepare(in, arena, &statement);
    return pg_answers_run(store, &statement,
                          &(struct answers_wanted){"messages_release", in->count, arena, out}, err);
}

pawl_status postgres_messages_renew(struct store *store, const struct messages_renew *in, struct arena *arena,
                                    struct answer_list *out, pawl_error *err) {
    struct statement statement = {.result = NULL};
    pawl_status status = check_renew(in, err);
    if (status != PAWL_OK)
        return status;
    pg_renew_prepare(in, arena, &statement);
    return pg_answers_run(store, &statement,
                          &(struct answers_wanted){"messages_renew", in->count, arena, out}, err);
}

pawl_status postgres_receptors_report(struct store *store, const struct receptor_report *reports,
                                      size_t count, struct arena *arena, struct answer_list *out,
                                      pawl_error *err) {
    struct statement statement = {.result = NULL};
    pawl_status status = check_receptors(reports, count, err);
    if (status != PAWL_OK)
        return status;
    pg_receptors_prepare(reports, count, arena, &statement);
    return pg_answers_run(store, &statement, &(struct answers_wanted){"receptors_report", count, arena, out},
                          err);
}

pawl_status postgres_checkpoints_report(struct store *store, const struct checkpoints_report *in,
                                        struct arena *arena, struct answer_list *out, pawl_error *err) {
    struct statement statement = {.result = NULL};
    pawl_status status = check_checkpoints(in, err);
    if (status != PAWL_OK)
        return status;
    pg_checkpoints_prepare(in, arena, &statement);
    return pg_answers_run(store, &statement,
                          &(struct answers_wanted){"checkpoints_report", in->count, arena, out}, err);
}
