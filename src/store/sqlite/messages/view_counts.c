/* Queries about counts, instances, lanes and dead letters by cause on SQLite. */
#include "base/limits.h"
#include "store/check/place.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/messages/view.h"

pawl_status view_count_kind(struct operation *op, int kind, struct kind_counts *out) {
    struct statement s = SQL(op, SQLITE_Q_VIEW_TALLY, kind, op->now_ms);
    if (statement_next(&s)) {
        row_read(&s, 0, &kind_counts_shape, op->scratch, out);
        /* In flight and still in the table of messages. */
        out->ready = out->put - out->done - out->aside - out->dead - out->discarded -
                     column_int(&s, (int)kind_counts_shape.count);
    }
    return statement_end(&s);
}

pawl_status sqlite_counts(struct store *store, struct counts *out, pawl_error *err) {
    struct operation op = operation_read(store, "counts", PAWL_OK, err);
    if (op.status != PAWL_OK)
        return op.status;
    pawl_status status = PAWL_OK;
    struct counts counts = {.now_ms = op.now_ms};
    for (int kind = 1; kind <= KIND_COUNT && status == PAWL_OK; kind++)
        status = view_count_kind(&op, kind, &counts.kind[kind]);
    return operation_give(&op, status, out, &counts);
}

pawl_status sqlite_instances(struct store *store, struct arena *arena, struct instance_rows *out,
                             pawl_error *err) {
    struct operation op = operation_read(store, "instances", PAWL_OK, err);
    return operation_list(&op, SQL(&op, SQLITE_Q_VIEW_INSTANCES, op.now_ms), &instance_shape, arena,
                          ROWS_OUT(out, rows));
}

pawl_status sqlite_lanes(struct store *store, enum store_kind kind, struct arena *arena,
                         struct lane_rows *out, pawl_error *err) {
    struct place at = {.op = "lanes", .err = err};
    struct operation op = operation_read(store, "lanes", place_kind(&at, kind), err);
    pawl_status status =
        operation_list(&op, SQL(&op, SQLITE_Q_VIEW_LANES, kind), &lane_shape, arena, ROWS_OUT(out, rows));
    for (size_t i = 0; status == PAWL_OK && i < out->count; i++)
        out->rows[i].kind = kind;
    return status;
}

pawl_status sqlite_dead_groups(struct store *store, enum store_kind kind, int limit, struct arena *arena,
                               struct dead_groups *out, pawl_error *err) {
    struct place at = {.op = "dead_groups", .err = err};
    struct operation op = operation_read(store, "dead_groups", place_kind(&at, kind), err);
    pawl_status status =
        operation_list(&op, SQL(&op, SQLITE_Q_VIEW_DEAD_GROUPS, kind, limit > 0 ? limit : PAWL_LIST_DEFAULT),
                       &dead_group_shape, arena, ROWS_OUT(out, groups));
    for (size_t i = 0; status == PAWL_OK && i < out->count; i++)
        out->groups[i].kind = kind;
    return status;
}
