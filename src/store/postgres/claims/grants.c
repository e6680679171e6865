/* What a holder knows of its grants, compared with what was granted to it. */
#include "store/postgres/calls.h"

pawl_status postgres_grants_settle(struct store *store, const struct grants_settle *in,
                                   struct grants_settled *out, pawl_error *err) {
    pawl_status status = check_settle(in, err);
    if (status != PAWL_OK)
        return status;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return pg_answer_no_memory("grants_settle", err);
    struct statement statement = pg_statement_new(POSTGRES_Q_GRANTS_SETTLE, arena);
    pg_params_uuid(&statement.params, in->instance);
    pg_params_small(&statement.params, (int)in->side);
    pg_params_bigs(&statement.params, STRIDED(in->held, token, in->count));
    pg_params_bigs(&statement.params, STRIDED(in->held, number, in->count));
    pg_params_big(&statement.params, in->settled);
    pg_params_big(&statement.params, in->seen);
    status = pg_statement_run(postgres_of(store), "grants_settle", &statement, EFFECT_WRITE, err);
    if (status == PAWL_OK && PQntuples(statement.result) != 1)
        status = pg_answer_malformed("grants_settle", err);
    if (status == PAWL_OK)
        *out = (struct grants_settled){.released = pg_cell_int((struct cell){statement.result, 0, 0}),
                                       .newest = pg_cell_int((struct cell){statement.result, 0, 1}),
                                       .epoch = pg_cell_int((struct cell){statement.result, 0, 2})};
    pg_statement_clear(&statement);
    arena_free(arena);
    return status;
}
