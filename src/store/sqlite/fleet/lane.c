/* Rebalancing lanes on SQLite. */
#include "store/sqlite/fleet/lane.h"

#include "base/uuid.h"
#include "domain/share.h"
#include "store/check/place.h"
#include "store/sqlite/claims/claim_end.h"
#include "store/sqlite/file/row.h"

/* Runs a statement of (kind, owner, count) or, with count below 0, (kind, owner). */
static pawl_status change(struct operation *op, enum sqlite_query query, enum store_kind kind,
                          pawl_uuid owner, int64_t count, int64_t *changed) {
    struct statement s = SQL(op, query, kind, owner);
    if (count >= 0)
        bind_int(&s, count);
    return statement_run_count(s, changed);
}

pawl_status lane_free_drained(struct operation *op, enum store_kind kind, pawl_uuid owner, int64_t *freed) {
    return change(op, SQLITE_Q_LANE_FREE_DRAINED, kind, owner, -1, freed);
}

static pawl_status count_owned(struct operation *op, enum store_kind kind, pawl_uuid owner, int *owned) {
    int64_t count = 0;
    bool found = false;
    TRY(statement_number(SQL(op, SQLITE_Q_LANE_COUNT_OWNED, kind, owner), &count, &found));
    *owned = (int)count;
    return PAWL_OK;
}

pawl_status lane_fill_beat(struct operation *op, const struct instance_brief *brief,
                           struct beat_result *beat) {
    for (int kind = 1; kind <= KIND_COUNT; kind++)
        TRY(count_owned(op, (enum store_kind)kind, brief->id, &beat->lanes_owned[kind]));
    beat->now_ms = op->now_ms;
    beat->lease_until_ms = brief->lease_until_ms;
    return PAWL_OK;
}

LOCAL_SHAPE(share, struct share_member, M(id), M(owned), M(full));

/* The quota of the caller, and how many lanes it owns that are not draining. */
static pawl_status read_share(struct operation *op, enum store_kind kind, const struct instance_brief *caller,
                              int *quota, int *owned) {
    struct row_list list = {NULL, 0};
    TRY(rows_read(SQL(op, SQLITE_Q_INSTANCE_LIVE, kind, KIND_BIT(kind), op->now_ms), &share_shape,
                  op->scratch, &list));
    const struct share_member *members = list.rows;
    for (size_t i = 0; i < list.count; i++)
        if (uuid_equal(members[i].id, caller->id))
            *owned = members[i].owned;
    int cap_lanes =
        share_cap_lanes(caller->max_partitions, op->settings.lane_count, op->settings.partition_count);
    *quota = share_quota(members, list.count, caller->id, op->settings.lane_count, cap_lanes);
    return PAWL_OK;
}

/* Idle lanes go at once, busy ones when their last claim ends; from the highest number down. */
static pawl_status give(struct operation *op, enum store_kind kind, pawl_uuid caller, int64_t surplus,
                        struct beat_result *beat) {
    int64_t freed = 0, draining = 0;
    int64_t most = share_give_max(op->settings.lane_count);
    if (surplus > most)
        surplus = most;
    TRY(change(op, SQLITE_Q_LANE_FREE_IDLE, kind, caller, surplus, &freed));
    if (freed < surplus)
        TRY(change(op, SQLITE_Q_LANE_DRAIN, kind, caller, surplus - freed, &draining));
    beat->lanes_given += (int)(freed + draining);
    return PAWL_OK;
}

static pawl_status take_free(struct operation *op, enum store_kind kind, pawl_uuid caller, int64_t wanted,
                             struct beat_result *beat) {
    int *lanes = arena_array(op->scratch, (size_t)wanted, sizeof(*lanes));
    size_t count = 0;
    if (lanes == NULL)
        return operation_no_memory(op);
    struct statement s = SQL(op, SQLITE_Q_LANE_FREE_LIST, kind, wanted);
    while (statement_next(&s))
        lanes[count++] = (int)column_int(&s, 0);
    TRY(statement_end(&s));
    for (size_t i = 0; i < count; i++) {
        TRY(statement_run(SQL(op, SQLITE_Q_LANE_TAKE, kind, lanes[i], caller, operation_next_token(op))));
        beat->lanes_taken++;
    }
    return PAWL_OK;
}

/* Its own draining lanes stop draining first; from the lowest number up. */
static pawl_status take(struct operation *op, enum store_kind kind, pawl_uuid caller, int64_t wanted,
                        struct beat_result *beat) {
    int64_t kept = 0;
    pawl_status status = change(op, SQLITE_Q_LANE_UNDRAIN, kind, caller, wanted, &kept);
    if (status == PAWL_OK && kept < wanted)
        status = take_free(op, kind, caller, wanted - kept, beat);
    return status;
}

pawl_status lane_balance(struct operation *op, enum store_kind kind, const struct instance_brief *caller,
                         struct beat_result *beat) {
    pawl_status status = instance_expel_silent(op, caller->id, &beat->evicted);
    if (status != PAWL_OK || caller->lease_until_ms <= op->now_ms || (caller->kinds & KIND_BIT(kind)) == 0)
        return status;
    int quota = 0, owned = 0;
    int64_t freed = 0, expired = 0;
    status = ending_overdue(op, kind, caller->id, &expired);
    if (status == PAWL_OK)
        status = read_share(op, kind, caller, &quota, &owned);
    if (status == PAWL_OK)
        status = lane_free_drained(op, kind, caller->id, &freed);
    beat->lanes_given += (int)freed;
    if (status == PAWL_OK && owned > quota)
        status = give(op, kind, caller->id, owned - quota, beat);
    else if (status == PAWL_OK && owned < quota)
        status = take(op, kind, caller->id, quota - owned, beat);
    return status;
}

/* Most of the time no lane is free, and the shares need not be looked at. */
pawl_status lane_wanted(struct operation *op, const struct instance_brief *caller, bool *wanted) {
    *wanted = false;
    if (caller->lease_until_ms <= op->now_ms)
        return PAWL_OK;
    for (int kind = 1; kind <= KIND_COUNT && !*wanted; kind++) {
        if ((caller->kinds & KIND_BIT(kind)) == 0)
            continue;
        int64_t lane = 0;
        bool free = false;
        TRY(statement_number(SQL(op, SQLITE_Q_LANE_FREE_LIST, kind, 1), &lane, &free));
        int quota = 0, owned = 0;
        if (free)
            TRY(read_share(op, (enum store_kind)kind, caller, &quota, &owned));
        *wanted = free && owned < quota;
    }
    return PAWL_OK;
}

pawl_status lane_list_owned(struct operation *op, enum store_kind kind, pawl_uuid owner, struct arena *arena,
                            int **lanes, size_t *count) {
    int owned = 0;
    TRY(count_owned(op, kind, owner, &owned));
    int *list = arena_array(arena, (size_t)owned, sizeof(*list));
    if (list == NULL)
        return operation_no_memory(op);
    struct statement s = SQL(op, SQLITE_Q_LANE_LIST_OWNED, kind, owner);
    int at = 0;
    while (at < owned && statement_next(&s))
        list[at++] = (int)column_int(&s, 0);
    TRY(statement_end(&s));
    *lanes = list;
    *count = (size_t)at;
    return PAWL_OK;
}

pawl_status sqlite_lanes_rebalance(struct store *store, pawl_uuid instance, enum store_kind kind,
                                   struct beat_result *out, pawl_error *err) {
    struct place at = {.op = "lanes_rebalance", .err = err};
    struct operation op = operation_write(store, "lanes_rebalance", place_kind(&at, kind), err);
    if (op.status != PAWL_OK)
        return op.status;
    struct instance_brief brief;
    struct beat_result beat = {0};
    pawl_status status = instance_must_be_active(&op, instance, &brief);
    if (status == PAWL_OK)
        status = lane_balance(&op, kind, &brief, &beat);
    if (status == PAWL_OK)
        status = lane_fill_beat(&op, &brief, &beat);
    return operation_give(&op, status, out, &beat);
}
