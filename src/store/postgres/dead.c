/* Dead letters and the history: driven again, thrown away, removed. */
#include "base/error.h"
#include "store/postgres/calls.h"

static void refs_prepare(const struct dead_ref *refs, size_t count, struct statement *statement) {
    pg_params_smalls(&statement->params, STRIDED(refs, kind, count));
    pg_params_bigs(&statement->params, STRIDED(refs, seq, count));
}

static pawl_status dead_end(struct store *store, enum postgres_query query, const struct dead_ref *refs,
                            size_t count, struct arena *arena, struct answer_list *out, pawl_error *err) {
    const char *op = query == POSTGRES_Q_DEAD_REDRIVE ? "dead_redrive" : "dead_discard";
    pawl_status status = check_dead_refs(op, refs, count, err);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(query, arena);
    refs_prepare(refs, count, &statement);
    status = pg_statement_run(postgres_of(store), op, &statement, EFFECT_WRITE, err);
    if (status == PAWL_OK)
        status = pg_answers_take(op, statement.result, count, arena, out, err);
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_dead_redrive(struct store *store, const struct dead_ref *refs, size_t count,
                                  struct arena *arena, struct answer_list *out, pawl_error *err) {
    return dead_end(store, POSTGRES_Q_DEAD_REDRIVE, refs, count, arena, out, err);
}

pawl_status postgres_dead_discard(struct store *store, const struct dead_ref *refs, size_t count,
                                  struct arena *arena, struct answer_list *out, pawl_error *err) {
    return dead_end(store, POSTGRES_Q_DEAD_DISCARD, refs, count, arena, out, err);
}

pawl_status postgres_history_remove(struct store *store, const struct dead_ref *refs, size_t count,
                                    int64_t *removed, pawl_error *err) {
    pawl_status status = check_dead_refs("history_remove", refs, count, err);
    if (status != PAWL_OK)
        return status;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return pg_answer_no_memory("history_remove", err);
    struct statement statement = pg_statement_new(POSTGRES_Q_HISTORY_REMOVE, arena);
    refs_prepare(refs, count, &statement);
    status = pg_statement_run(postgres_of(store), "history_remove", &statement, EFFECT_WRITE, err);
    if (status == PAWL_OK)
        *removed = pg_cell_int((struct cell){statement.result, 0, 0});
    pg_statement_clear(&statement);
    arena_free(arena);
    return status;
}
