/* Instances on SQLite: registration, heartbeats, eviction, leaving. */
#include "store/sqlite/fleet/instance.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/uuid.h"
#include "store/sqlite/claims/claim_end.h"
#include "store/sqlite/events/events.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/fleet/lane.h"

LOCAL_SHAPE(brief, struct instance_brief, M(id), M(state), M(kinds), M(beat_ms), M(lease_ms),
            M(lease_until_ms), M(max_partitions), M(slots));

pawl_status instance_read(struct operation *op, pawl_uuid id, struct instance_brief *brief, bool *known) {
    return row_find(SQL(op, SQLITE_Q_INSTANCE_FIND, id), &brief_shape, op->scratch, brief, known);
}

pawl_status instance_must_be_active(struct operation *op, pawl_uuid id, struct instance_brief *brief) {
    char text[UUID_TEXT_BYTES];
    bool known = false;
    TRY(instance_read(op, id, brief, &known));
    if (!known)
        return error_set(
            op->err, PAWL_STALE, op->name,
            "instance %s is not registered (evicted and removed, or never there): drop its work and "
            "register with a fresh id",
            uuid_format(id, text));
    if (brief->state != INSTANCE_ACTIVE)
        return error_set(op->err, PAWL_STALE, op->name,
                         "instance %s was evicted: drop its work and register with a fresh id",
                         uuid_format(id, text));
    return PAWL_OK;
}

pawl_status instance_must_be_live(struct operation *op, pawl_uuid id) {
    char text[UUID_TEXT_BYTES];
    struct instance_brief brief;
    TRY(instance_must_be_active(op, id, &brief));
    if (brief.lease_until_ms <= op->now_ms)
        return error_set(op->err, PAWL_STALE, op->name,
                         "the lease of instance %s ended %" PRId64
                         " ms ago: send a heartbeat before claiming",
                         uuid_format(id, text), op->now_ms - brief.lease_until_ms);
    return PAWL_OK;
}

static pawl_status has_tombstone(struct operation *op, pawl_uuid id, bool *found) {
    return statement_any(SQL(op, SQLITE_Q_TOMBSTONE_FIND, id), found);
}

/* Rebalances every kind of the instance and says what it owns afterwards. */
static pawl_status balance(struct operation *op, const struct instance_brief *brief,
                           struct beat_result *beat) {
    for (int kind = 1; kind <= KIND_COUNT; kind++)
        if ((brief->kinds & KIND_BIT(kind)) != 0)
            TRY(lane_balance(op, (enum store_kind)kind, brief, beat));
    return lane_fill_beat(op, brief, beat);
}

static pawl_status insert(struct operation *op, const struct instance_new *in, int64_t lease_ms) {
    return statement_run(SQL(op, SQLITE_Q_INSTANCE_INSERT, in->id, in->service, in->host, in->pid,
                             in->metadata, in->kinds, in->max_partitions, op->now_ms, lease_ms, in->slots));
}

pawl_status instance_enter(struct operation *op, const struct instance_new *in, struct beat_result *beat) {
    char text[UUID_TEXT_BYTES];
    struct instance_brief brief;
    bool known = false, buried = false;
    if (in->partition_count != 0 && in->partition_count != op->settings.partition_count)
        return error_set(
            op->err, PAWL_INVALID, op->name,
            "partition_count %d differs from the schema's %d, which is fixed: leave it out or name that",
            in->partition_count, op->settings.partition_count);
    TRY(instance_read(op, in->id, &brief, &known));
    TRY(has_tombstone(op, in->id, &buried));
    if (known || buried)
        return error_set(op->err, PAWL_CONFLICT, op->name,
                         "instance id %s was used before: every start of a process needs a fresh one",
                         uuid_format(in->id, text));
    int64_t lease_ms = in->lease_ms != 0 ? in->lease_ms : op->settings.instance_lease_ms;
    brief = (struct instance_brief){.id = in->id,
                                    .state = INSTANCE_ACTIVE,
                                    .kinds = in->kinds,
                                    .beat_ms = op->now_ms,
                                    .lease_ms = lease_ms,
                                    .lease_until_ms = op->now_ms + lease_ms,
                                    .max_partitions = in->max_partitions};
    TRY(insert(op, in, lease_ms));
    TRY(statement_run(SQL(op, SQLITE_Q_DEPLOY_NOTE, in->id, op->now_ms)));
    return balance(op, &brief, beat);
}

pawl_status instance_touch(struct operation *op, struct instance_brief *brief, struct beat_result *beat) {
    TRY(statement_run(SQL(op, SQLITE_Q_INSTANCE_BEAT, brief->id, op->now_ms)));
    brief->beat_ms = op->now_ms;
    brief->lease_until_ms = op->now_ms + brief->lease_ms;
    return balance(op, brief, beat);
}

/* Frees its lanes, its checkpoints, and its request to be woken. */
static pawl_status free_grants(struct operation *op, pawl_uuid id) {
    TRY(statement_run(SQL(op, SQLITE_Q_LANE_FREE_ALL, id)));
    TRY(checkpoints_leave(op, id));
    return statement_run(SQL(op, SQLITE_Q_WAITER_END, id, op->now_ms));
}

pawl_status instance_expel(struct operation *op, pawl_uuid id) {
    TRY(statement_run(SQL(op, SQLITE_Q_INSTANCE_SET_EVICTED, id, op->now_ms)));
    TRY(free_grants(op, id));
    TRY(ending_evicted(op, id));
    return operation_note_evicted(op, id);
}

/* Evicts every instance the statement lists. */
static pawl_status evict_listed(struct operation *op, struct statement s, int *evicted) {
    struct row_list list = {NULL, 0};
    TRY(rows_read(s, &id_shape, op->scratch, &list));
    for (size_t i = 0; i < list.count; i++) {
        TRY(instance_expel(op, ((const pawl_uuid *)list.rows)[i]));
        *evicted += 1;
    }
    return PAWL_OK;
}

pawl_status instance_expel_silent(struct operation *op, pawl_uuid caller, int *evicted) {
    return evict_listed(op, SQL(op, SQLITE_Q_INSTANCE_SILENT, caller, op->now_ms), evicted);
}

pawl_status instance_any_silent(struct operation *op, pawl_uuid caller, bool *any) {
    return statement_any(SQL(op, SQLITE_Q_INSTANCE_SILENT, caller, op->now_ms), any);
}

pawl_status instance_expel_all(struct operation *op) {
    int evicted = 0;
    return evict_listed(op, statement_begin(op, SQLITE_Q_INSTANCE_ACTIVE), &evicted);
}

pawl_status instance_remove(struct operation *op, pawl_uuid id) {
    TRY(statement_run(SQL(op, SQLITE_Q_INSTANCE_DELETE, id)));
    TRY(statement_run(SQL(op, SQLITE_Q_TOMBSTONE_INSERT, id, op->now_ms)));
    return operation_note_evicted(op, id);
}

pawl_status sqlite_instance_register(struct store *store, const struct instance_new *in,
                                     struct instance_grant *out, pawl_error *err) {
    struct operation op = operation_write(store, "instance_register", check_instance(in, err), err);
    struct beat_result beat = {0};
    pawl_status status = operation_end(&op, instance_enter(&op, in, &beat));
    if (status == PAWL_OK)
        *out = (struct instance_grant){.now_ms = beat.now_ms,
                                       .lease_until_ms = beat.lease_until_ms,
                                       .epoch = op.settings.epoch,
                                       .lanes_owned = beat.lanes_owned[1] + beat.lanes_owned[2] +
                                                      beat.lanes_owned[3]};
    return status;
}

static pawl_status count(struct operation *op, pawl_uuid instance, struct beat_result *beat) {
    bool found = false;
    TRY(statement_number(statement_begin(op, SQLITE_Q_PAUSE_COUNT), &beat->pauses, &found));
    return statement_number(SQL(op, SQLITE_Q_INSTANCE_OTHERS, instance), &beat->others, &found);
}

pawl_status sqlite_heartbeat(struct store *store, pawl_uuid instance, int64_t processed,
                             struct beat_result *out, pawl_error *err) {
    struct operation op = operation_write(store, "heartbeat", PAWL_OK, err);
    if (op.status != PAWL_OK)
        return op.status;
    struct instance_brief brief;
    struct beat_result beat = {0};
    pawl_status status = instance_must_be_active(&op, instance, &brief);
    if (status == PAWL_OK)
        status = instance_touch(&op, &brief, &beat);
    if (status == PAWL_OK)
        status = count(&op, instance, &beat);
    if (status == PAWL_OK && processed >= 0)
        status = statement_run(SQL(&op, SQLITE_Q_INSTANCE_PROCESSED, instance, processed));
    return operation_give(&op, status, out, &beat);
}

pawl_status sqlite_instance_full(struct store *store, pawl_uuid instance, bool full, pawl_error *err) {
    struct instance_brief brief;
    struct operation op = operation_write(store, "instance_full", PAWL_OK, err);
    if (op.status != PAWL_OK)
        return op.status;
    pawl_status status = instance_must_be_active(&op, instance, &brief);
    if (status == PAWL_OK)
        status = statement_run(SQL(&op, SQLITE_Q_INSTANCE_FULL, instance, full));
    return operation_end(&op, status);
}

pawl_status sqlite_instance_deregister(struct store *store, pawl_uuid instance, pawl_error *err) {
    char text[UUID_TEXT_BYTES];
    struct operation op = operation_write(store, "instance_deregister", PAWL_OK, err);
    if (op.status != PAWL_OK)
        return op.status;
    struct instance_brief brief;
    bool known = false;
    pawl_status status = instance_read(&op, instance, &brief, &known);
    if (status == PAWL_OK && !known)
        status = error_set(err, PAWL_STALE, op.name,
                           "instance %s is not registered: it has nothing to give back",
                           uuid_format(instance, text));
    if (status == PAWL_OK)
        status = ending_released(&op, instance);
    if (status == PAWL_OK)
        status = free_grants(&op, instance);
    if (status == PAWL_OK)
        status = instance_remove(&op, instance);
    return operation_end(&op, status);
}

pawl_status sqlite_instance_evict(struct store *store, pawl_uuid instance, pawl_error *err) {
    char text[UUID_TEXT_BYTES];
    struct operation op = operation_write(store, "instance_evict", PAWL_OK, err);
    if (op.status != PAWL_OK)
        return op.status;
    struct instance_brief brief;
    bool known = false;
    pawl_status status = instance_read(&op, instance, &brief, &known);
    if (status == PAWL_OK && !known)
        status = error_set(err, PAWL_NOT_FOUND, op.name, "no instance %s is registered",
                           uuid_format(instance, text));
    if (status == PAWL_OK && brief.state == INSTANCE_ACTIVE)
        status = instance_expel(&op, instance);
    return operation_end(&op, status);
}
