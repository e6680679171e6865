/* Dead letters and the history: driven again, thrown away, removed. */
#include "base/error.h"
#include "store/postgres/calls.h"

struct dead_list {
    const struct dead_ref *refs;
    size_t count;
};

static void refs_prepare(const struct dead_ref *refs, size_t count, struct statement *statement) {
    pg_params_smalls(&statement->params, STRIDED(refs, kind, count));
    pg_params_bigs(&statement->params, STRIDED(refs, seq, count));
}

static pawl_status dead_end(struct store *store, enum postgres_query query, struct dead_list refs,
                            const struct answers_wanted *wanted, pawl_error *err) {
    pawl_status status = check_dead_refs(wanted->op, refs.refs, refs.count, err);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(query, wanted->arena);
    refs_prepare(refs.refs, refs.count, &statement);
    return pg_answers_run(store, &statement, wanted, err);
}

pawl_status postgres_dead_redrive(struct store *store, const struct dead_ref *refs, size_t count,
                                  struct arena *arena, struct answer_list *out, pawl_error *err) {
    return dead_end(store, POSTGRES_Q_DEAD_REDRIVE, (struct dead_list){refs, count},
                    &(struct answers_wanted){"dead_redrive", count, arena, out}, err);
}

pawl_status postgres_dead_discard(struct store *store, const struct dead_ref *refs, size_t count,
                                  struct arena *arena, struct answer_list *out, pawl_error *err) {
    return dead_end(store, POSTGRES_Q_DEAD_DISCARD, (struct dead_list){refs, count},
                    &(struct answers_wanted){"dead_discard", count, arena, out}, err);
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
