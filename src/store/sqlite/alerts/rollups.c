/* Rollups on SQLite. */
#include "store/rollups.h"

#include "store/sqlite/file/row.h"

pawl_status sqlite_rollups_add(struct store *store, const struct rollup_cell *cells, size_t count,
                               pawl_error *err) {
    struct operation op = operation_write(store, "rollups_add", check_rollups(cells, count, err), err);
    if (op.status != PAWL_OK)
        return op.status;
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = statement_run(SQL(&op, SQLITE_Q_ROLLUP_ADD, ROW_OF(rollup_shape, &cells[i])));
    return operation_end(&op, status);
}
