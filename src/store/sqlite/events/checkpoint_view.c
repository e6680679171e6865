/* Listing checkpoints, and their most common errors. */
#include "base/error.h"
#include "store/sqlite/events/events.h"

pawl_status sqlite_checkpoints_list(struct store *store, const struct checkpoint_filter *filter,
                                    struct arena *arena, struct checkpoint_views *out, pawl_error *err) {
    struct operation op;
    struct checkpoint_views list = {0};
    pawl_status status = check_limit("checkpoints_list", filter->limit, err);
    if (!operation_begin(&op, store, OPERATION_READ, "checkpoints_list", &status, err))
        return status;
    list.rows = arena_array(arena, (size_t)filter->limit, sizeof *list.rows);
    if (list.rows == NULL)
        return operation_end(&op, operation_no_memory(&op));
    struct statement s = statement_begin(&op, SQLITE_Q_CHECKPOINT_LIST);
    row_bind(&s, &checkpoint_filter_shape, filter);
    while (statement_next(&s)) {
        struct checkpoint_state c = checkpoint_column(&s, arena);
        if (c.view.status == CHECKPOINT_FAILED)
            c.view.next_ms = c.due_ms > 0 ? c.due_ms : 0;
        if (c.view.status == CHECKPOINT_COMPLETED && c.view.version < c.view.head)
            c.view.status = CHECKPOINT_PENDING;
        list.rows[list.count++] = c.view;
    }
    return operation_give(&op, statement_end(&s), out, &list);
}

pawl_status sqlite_checkpoint_errors(struct store *store, pawl_str perspective, int limit,
                                     struct arena *arena, struct checkpoint_errors *out, pawl_error *err) {
    struct operation op;
    pawl_status status = check_limit("checkpoint_errors", limit, err);
    if (!operation_begin(&op, store, OPERATION_READ, "checkpoint_errors", &status, err))
        return status;
    struct statement s = statement_begin(&op, SQLITE_Q_CHECKPOINT_ERROR_GROUPS);
    bind_text(&s, perspective);
    bind_int(&s, limit);
    return operation_list(&op, &s, &checkpoint_error_shape, arena, ROWS_OUT(out, rows));
}
