/* Counts, instances, lanes and dead letters by cause, as the views show them. */
#include "base/limits.h"
#include "store/check/place.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/messages/view.h"

static pawl_status count_kind(struct operation *op, int kind, struct kind_counts *out) {
    struct statement s = statement_begin(op, SQLITE_Q_VIEW_TALLY);
    bind_int(&s, kind);
    bind_int(&s, op->now_ms);
    if (statement_next(&s)) {
        row_read(&s, 0, &kind_counts_shape, op->scratch, out);
        /* In flight and still in the table of messages. */
        out->ready = out->put - out->done - out->aside - out->dead - out->discarded -
                     column_int(&s, (int)kind_counts_shape.count);
    }
    return statement_end(&s);
}

pawl_status sqlite_counts(struct store *store, struct counts *out, pawl_error *err) {
    struct operation op;
    pawl_status status = operation_begin(&op, store, OPERATION_READ, "counts", err);
    if (status != PAWL_OK)
        return status;
    struct counts counts = {.now_ms = op.now_ms};
    for (int kind = 1; kind <= KIND_COUNT && status == PAWL_OK; kind++)
        status = count_kind(&op, kind, &counts.kind[kind]);
    status = operation_end(&op, status);
    if (status == PAWL_OK)
        *out = counts;
    return status;
}

pawl_status sqlite_instances(struct store *store, struct arena *arena, struct instance_rows *out,
                             pawl_error *err) {
    struct operation op;
    struct row_list list;
    pawl_status status = operation_begin(&op, store, OPERATION_READ, "instances", err);
    if (status != PAWL_OK)
        return status;
    struct statement s = statement_begin(&op, SQLITE_Q_VIEW_INSTANCES);
    status = operation_end(&op, rows_read(&s, &instance_shape, arena, &list));
    if (status == PAWL_OK)
        *out = (struct instance_rows){list.rows, list.count};
    for (size_t i = 0; status == PAWL_OK && i < list.count; i++)
        out->rows[i].beat_age_ms = op.now_ms - out->rows[i].beat_ms;
    return status;
}

pawl_status sqlite_lanes(struct store *store, enum store_kind kind, struct arena *arena,
                         struct lane_rows *out, pawl_error *err) {
    struct place at = {.op = "lanes", .err = err};
    struct operation op;
    struct row_list list;
    pawl_status status = place_kind(&at, kind);
    if (status == PAWL_OK)
        status = operation_begin(&op, store, OPERATION_READ, "lanes", err);
    if (status != PAWL_OK)
        return status;
    struct statement s = statement_begin(&op, SQLITE_Q_VIEW_LANES);
    bind_int(&s, kind);
    status = operation_end(&op, rows_read(&s, &lane_shape, arena, &list));
    if (status == PAWL_OK)
        *out = (struct lane_rows){list.rows, list.count};
    for (size_t i = 0; status == PAWL_OK && i < list.count; i++)
        out->rows[i].kind = kind;
    return status;
}

pawl_status sqlite_dead_groups(struct store *store, enum store_kind kind, int limit, struct arena *arena,
                               struct dead_groups *out, pawl_error *err) {
    struct place at = {.op = "dead_groups", .err = err};
    struct operation op;
    struct row_list list;
    pawl_status status = place_kind(&at, kind);
    if (status == PAWL_OK)
        status = operation_begin(&op, store, OPERATION_READ, "dead_groups", err);
    if (status != PAWL_OK)
        return status;
    struct statement s = statement_begin(&op, SQLITE_Q_VIEW_DEAD_GROUPS);
    bind_int(&s, kind);
    bind_int(&s, limit > 0 ? limit : PAWL_LIST_DEFAULT);
    status = operation_end(&op, rows_read(&s, &dead_group_shape, arena, &list));
    if (status == PAWL_OK)
        *out = (struct dead_groups){list.rows, list.count};
    for (size_t i = 0; status == PAWL_OK && i < list.count; i++)
        out->groups[i].kind = kind;
    return status;
}
