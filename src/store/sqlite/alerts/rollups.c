/* Rollups on SQLite. */
#include "store/rollups.h"

#include "store/sqlite/file/row.h"

pawl_status sqlite_rollups_add(struct store *store, const struct rollup_cell *cells, size_t count,
                               pawl_error *err) {
    struct operation op;
    pawl_status status = check_rollups(cells, count, err);
    if (!operation_begin(&op, store, OPERATION_WRITE, "rollups_add", &status, err))
        return status;
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        struct statement s = statement_begin(&op, SQLITE_Q_ROLLUP_ADD);
        row_bind(&s, &rollup_shape, &cells[i]);
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
    struct statement s = statement_begin(&op, SQLITE_Q_VIEW_ROLLUPS);
    return operation_list(&op, &s, &rollup_shape, arena, ROWS_OUT(out, cells));
}
