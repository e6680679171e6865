/* What workers count of their work. */
#include "store/rollups.h"

#include "base/error.h"
#include "store/postgres/calls.h"

pawl_status postgres_rollups_add(struct store *store, const struct rollup_cell *cells, size_t count,
                                 pawl_error *err) {
    pawl_status status = check_rollups(cells, count, err);
    if (status != PAWL_OK)
        return status;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return pg_answer_no_memory("rollups_add", err);
    struct statement statement = pg_statement_new(POSTGRES_Q_ROLLUPS_ADD, arena);
    struct params *p = &statement.params;
    pg_params_ints(p, STRIDED(cells, measure, count));
    pg_params_ints(p, STRIDED(cells, kind, count));
    pg_params_ints(p, STRIDED(cells, result, count));
    pg_params_ints(p, STRIDED(cells, bucket, count));
    pg_params_bigs(p, STRIDED(cells, count, count));
    pg_params_bigs(p, STRIDED(cells, sum, count));
    return pg_void_run(store, "rollups_add", &statement, arena, err);
}

pawl_status postgres_rollups(struct store *store, struct arena *arena, struct rollup_cells *out,
                             pawl_error *err) {
    struct statement statement = pg_statement_new(POSTGRES_Q_VIEW_ROLLUPS, arena);
    pawl_status status = pg_statement_run(postgres_of(store), "rollups", &statement, EFFECT_READ, err);
    size_t count = status == PAWL_OK ? (size_t)PQntuples(statement.result) : 0;
    struct rollup_cell *cells = arena_array(arena, count + 1, sizeof(*cells));
    if (status == PAWL_OK && cells == NULL)
        status = pg_answer_no_memory("rollups", err);
    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
        int64_t n[6];
        for (int column = 0; column < 6; column++)
            n[column] = pg_cell_int((struct cell){statement.result, (int)i, column});
        cells[i] = (struct rollup_cell){(int)n[0], (int)n[1], (int)n[2], (int)n[3], n[4], n[5]};
    }
    if (status == PAWL_OK)
        *out = (struct rollup_cells){cells, count};
    pg_statement_clear(&statement);
    return status;
}
