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
        *out = (struct kind_counts){
            .put = column_int(&s, 0),
            .done = column_int(&s, 1),
            .failed = column_int(&s, 2),
            .dead = column_int(&s, 3),
            .aside = column_int(&s, 4),
            .stale = column_int(&s, 5),
            .duplicate = column_int(&s, 6),
            .redriven = column_int(&s, 7),
            .discarded = column_int(&s, 8),
            .lanes_free = (int)column_int(&s, 9),
            .claims_active = column_int(&s, 10),
            .claims_overdue = column_int(&s, 11),
            .leased = column_int(&s, 12),
            .oldest_ready_ms = column_int(&s, 14),
            .next_due_ms = column_int(&s, 15),
        };
        out->ready = out->put - out->done - out->aside - out->dead - out->discarded - column_int(&s, 13);
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
