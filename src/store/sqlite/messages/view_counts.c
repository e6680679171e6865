/* Counts, instances, lanes and dead letters by cause, as the views show them. */
#include "base/limits.h"
#include "store/check/place.h"
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

static void read_instance(struct statement *s, struct arena *arena, int64_t now_ms,
                          struct instance_row *row) {
    *row = (struct instance_row){
        .id = column_uuid(s, 0),
        .service = column_copy(s, 1, arena),
        .host = column_copy(s, 2, arena),
        .metadata = column_copy(s, 3, arena),
        .pid = (int)column_int(s, 4),
        .kinds = (int)column_int(s, 5),
        .state = (enum instance_state)column_int(s, 6),
        .started_ms = column_int(s, 7),
        .beat_ms = column_int(s, 8),
        .lease_until_ms = column_int(s, 9),
        .beat_age_ms = now_ms - column_int(s, 8),
        .lanes = {0, (int)column_int(s, 10), (int)column_int(s, 11), (int)column_int(s, 12)},
        .claims = (int)column_int(s, 13),
        .in_flight = (int)column_int(s, 14),
        .processed = column_int(s, 15),
        .jobs = (int)column_int(s, 16),
    };
}

pawl_status sqlite_instances(struct store *store, struct arena *arena, struct instance_rows *out,
                             pawl_error *err) {
    struct operation op;
    struct instance_rows list = {0};
    size_t cap = 0;
    pawl_status status = operation_begin(&op, store, OPERATION_READ, "instances", err);
    if (status != PAWL_OK)
        return status;
    struct statement s = statement_begin(&op, SQLITE_Q_VIEW_INSTANCES);
    while (statement_next(&s)) {
        if (list.count == cap) {
            size_t more = cap == 0 ? 16 : cap * 2;
            struct instance_row *grown = arena_array(arena, more, sizeof(*grown));
            if (grown == NULL) {
                s.rc = SQLITE_NOMEM;
                break;
            }
            for (size_t i = 0; i < list.count; i++)
                grown[i] = list.rows[i];
            list.rows = grown;
            cap = more;
        }
        read_instance(&s, arena, op.now_ms, &list.rows[list.count++]);
    }
    status = operation_end(&op, statement_end(&s));
    if (status == PAWL_OK)
        *out = list;
    return status;
}

pawl_status sqlite_lanes(struct store *store, enum store_kind kind, struct arena *arena,
                         struct lane_rows *out, pawl_error *err) {
    struct place at = {.op = "lanes", .err = err};
    struct operation op;
    pawl_status status = place_kind(&at, kind);
    if (status == PAWL_OK)
        status = operation_begin(&op, store, OPERATION_READ, "lanes", err);
    if (status != PAWL_OK)
        return status;
    size_t room = (size_t)op.settings.lane_count;
    struct lane_rows list = {arena_array(arena, room, sizeof(*list.rows)), 0};
    if (list.rows == NULL)
        return operation_end(&op, operation_no_memory(&op));
    struct statement s = statement_begin(&op, SQLITE_Q_VIEW_LANES);
    bind_int(&s, kind);
    while (list.count < room && statement_next(&s))
        list.rows[list.count++] = (struct lane_row){
            .kind = kind,
            .lane = (int)column_int(&s, 0),
            .owner = column_uuid(&s, 1),
            .token = column_int(&s, 2),
            .high = column_int(&s, 3),
            .moves = column_int(&s, 4),
            .draining = column_int(&s, 5) != 0,
            .claims = (int)column_int(&s, 6),
            .holds = (int)column_int(&s, 7),
        };
    status = operation_end(&op, statement_end(&s));
    if (status == PAWL_OK)
        *out = list;
    return status;
}

pawl_status sqlite_dead_groups(struct store *store, enum store_kind kind, int limit, struct arena *arena,
                               struct dead_groups *out, pawl_error *err) {
    struct place at = {.op = "dead_groups", .err = err};
    struct operation op;
    pawl_status status = place_kind(&at, kind);
    if (status == PAWL_OK)
        status = operation_begin(&op, store, OPERATION_READ, "dead_groups", err);
    if (status != PAWL_OK)
        return status;
    size_t room = limit > 0 ? (size_t)limit : PAWL_LIST_DEFAULT;
    struct dead_groups list = {arena_array(arena, room, sizeof(*list.groups)), 0};
    if (list.groups == NULL)
        return operation_end(&op, operation_no_memory(&op));
    struct statement s = statement_begin(&op, SQLITE_Q_VIEW_DEAD_GROUPS);
    bind_int(&s, kind);
    bind_int(&s, (int64_t)room);
    while (list.count < room && statement_next(&s))
        list.groups[list.count++] = (struct dead_group){
            .kind = kind,
            .fingerprint = column_copy(&s, 0, arena),
            .count = column_int(&s, 1),
            .first_ms = column_int(&s, 2),
            .last_ms = column_int(&s, 3),
            .sample_error = column_copy(&s, 4, arena),
        };
    status = operation_end(&op, statement_end(&s));
    if (status == PAWL_OK)
        *out = list;
    return status;
}
