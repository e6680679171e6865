/* Listing checkpoints, and their most common errors. */
#include "base/error.h"
#include "store/sqlite/events/events.h"

pawl_status sqlite_checkpoints_list(struct store *store, const struct checkpoint_filter *filter,
                                    struct arena *arena, struct checkpoint_views *out, pawl_error *err) {
    struct checkpoint_views list = {0};
    struct operation op =
        operation_read(store, "checkpoints_list", check_limit("checkpoints_list", filter->limit, err), err);
    if (op.status != PAWL_OK)
        return op.status;
    list.rows = arena_array(arena, (size_t)filter->limit, sizeof *list.rows);
    if (list.rows == NULL)
        return operation_end(&op, operation_no_memory(&op));
    struct statement s = SQL(&op, SQLITE_Q_CHECKPOINT_LIST, ROW_OF(checkpoint_filter_shape, filter));
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
