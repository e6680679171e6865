/* What workers count of their work. */
#include "store/rollups.h"

#include "store/sqlite/file/operation.h"

pawl_status sqlite_rollups_add(struct store *store, const struct rollup_cell *cells, size_t count,
                               pawl_error *err) {
    struct operation op;
    pawl_status status = check_rollups(cells, count, err);
    if (!operation_begin(&op, store, OPERATION_WRITE, "rollups_add", &status, err))
        return status;
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        struct statement s = statement_begin(&op, SQLITE_Q_ROLLUP_ADD);
        bind_int(&s, cells[i].measure);
        bind_int(&s, cells[i].kind);
        bind_int(&s, cells[i].result);
        bind_int(&s, cells[i].bucket);
        bind_int(&s, cells[i].count);
        bind_int(&s, cells[i].sum);
        status = statement_run(&s);
    }
    return operation_end(&op, status);
}

pawl_status sqlite_rollups(struct store *store, struct arena *arena, struct rollup_cells *out,
                           pawl_error *err) {
    struct operation op;
    pawl_status status = PAWL_OK;
    if (!operation_begin(&op, store, OPERATION_READ, "rollups", &status, err))
        return status;
    struct rollup_cells found = {arena_array(arena, ROLLUP_CELLS_MAX, sizeof(*found.cells)), 0};
    if (found.cells == NULL)
        return operation_end(&op, operation_no_memory(&op));
    struct statement s = statement_begin(&op, SQLITE_Q_VIEW_ROLLUPS);
    while (found.count < ROLLUP_CELLS_MAX && statement_next(&s))
        found.cells[found.count++] = (struct rollup_cell){(int)column_int(&s, 0), (int)column_int(&s, 1),
                                                          (int)column_int(&s, 2), (int)column_int(&s, 3),
                                                          column_int(&s, 4),      column_int(&s, 5)};
    return operation_give(&op, statement_end(&s), out, &found);
}
