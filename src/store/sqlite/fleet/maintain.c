/* Housekeeping, settings and the clock on SQLite. */
#include "store/sqlite/file/operation.h"

#include "base/limits.h"
#include "store/fleet.h"
#include "store/sqlite/alerts/series.h"
#include "store/sqlite/claims/claim_end.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/fleet/instance.h"

/* How long an ended claim and a request key can still be asked about. */
#define MEMORY_MS INT64_C(3600000)

static pawl_status bury_stale(struct operation *op, const struct maintain_in *in, int64_t *removed) {
    struct row_list list = {NULL, 0};
    TRY(rows_read(
        SQL(op, SQLITE_Q_INSTANCE_STALE, in->caller, op->now_ms - op->settings.stale_ms, in->rows_max),
        &id_shape, op->scratch, &list));
    for (size_t i = 0; i < list.count; i++) {
        TRY(instance_remove(op, ((const pawl_uuid *)list.rows)[i]));
        *removed += 1;
    }
    return PAWL_OK;
}

static pawl_status purge(struct operation *op, enum sqlite_query query, int64_t before_ms, int rows_max,
                         int64_t *removed) {
    return statement_run_count(SQL(op, query, before_ms, rows_max), removed);
}

static pawl_status sweep(struct operation *op, const struct maintain_in *in, struct maintain_result *out) {
    int64_t history_ms = op->settings.history_ms > 0 ? op->settings.history_ms : PAWL_HISTORY_MS_DEFAULT;
    const struct {
        enum sqlite_query query;
        int64_t keep_ms;
        int64_t *removed;
    } rows[] = {
        {SQLITE_Q_PURGE_TOMBSTONE, PAWL_STALE_MS_MAX, &out->tombstones_removed},
        {SQLITE_Q_PURGE_DEDUPE, op->settings.dedupe_ms, &out->dedupe_removed},
        {SQLITE_Q_PURGE_REQUEST, MEMORY_MS, &out->requests_removed},
        {SQLITE_Q_PURGE_CLAIM, MEMORY_MS, &out->claims_removed},
        {SQLITE_Q_PURGE_HISTORY, history_ms, &out->history_removed},
        {SQLITE_Q_PURGE_RECEPTOR, history_ms > op->settings.dedupe_ms ? history_ms : op->settings.dedupe_ms,
         &out->receptors_removed},
    };
    int64_t attempts_removed = 0;
    TRY(purge(op, SQLITE_Q_PURGE_ATTEMPT, op->now_ms - MESSAGE_ATTEMPTS_KEPT_MS, in->rows_max,
              &attempts_removed));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        TRY(purge(op, rows[i].query, op->now_ms - rows[i].keep_ms, in->rows_max, rows[i].removed));
    return PAWL_OK;
}

pawl_status sqlite_maintain(struct store *store, const struct maintain_in *in, struct maintain_result *out,
                            pawl_error *err) {
    struct operation op = operation_write(store, "maintain", check_maintain(in, err), err);
    if (op.status != PAWL_OK)
        return op.status;
    pawl_status status = PAWL_OK;
    struct maintain_result result = {0};
    for (int kind = 1; kind <= KIND_COUNT && status == PAWL_OK; kind++)
        status = ending_overdue(&op, (enum store_kind)kind, in->caller, &result.claims_expired);
    if (status == PAWL_OK)
        status = bury_stale(&op, in, &result.instances_removed);
    if (status == PAWL_OK)
        status = sweep(&op, in, &result);
    if (status == PAWL_OK)
        status = series_fold(&op);
    return operation_give(&op, status, out, &result);
}

pawl_status sqlite_history_remove(struct store *store, const struct dead_ref *refs, size_t count,
                                  int64_t *removed, pawl_error *err) {
    struct operation op =
        operation_write(store, "history_remove", check_dead_refs("history_remove", refs, count, err), err);
    if (op.status != PAWL_OK)
        return op.status;
    pawl_status status = PAWL_OK;
    int64_t sum = 0;
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        int64_t one = 0;
        status = statement_run_count(SQL(&op, SQLITE_Q_HISTORY_DELETE, refs[i].kind, refs[i].seq), &one);
        sum += one;
    }
    return operation_give(&op, status, removed, &sum);
}

pawl_status sqlite_settings_change(struct store *store, const struct settings_change *in, pawl_error *err) {
    struct operation op = operation_write(store, "settings_change", check_settings(in, err), err);
    return operation_end(
        &op, statement_run(SQL(&op, SQLITE_Q_SETTINGS_CHANGE, ROW_OF(settings_change_shape, in))));
}

pawl_status sqlite_settings_read(struct store *store, struct settings *out, pawl_error *err) {
    struct operation op = operation_read(store, "settings_read", PAWL_OK, err);
    return operation_give(&op, PAWL_OK, out, &op.settings);
}

pawl_status sqlite_fleet(struct store *store, struct arena *arena, struct fleet_facts *out, pawl_error *err) {
    return fleet_facts_gather(store, arena, out, err);
}

pawl_status sqlite_clock_read(struct store *store, int64_t *now_ms, pawl_error *err) {
    struct operation op = operation_read(store, "clock_read", PAWL_OK, err);
    return operation_give(&op, PAWL_OK, now_ms, &op.now_ms);
}

pawl_status sqlite_epoch_raise(struct store *store, int64_t *epoch, pawl_error *err) {
    struct operation op = operation_write(store, "epoch_raise", PAWL_OK, err);
    pawl_status status = operation_end(&op, operation_raise_epoch(&op, op.settings.epoch + 1, EPOCH_ASKED));
    if (status == PAWL_OK)
        *epoch = op.settings.epoch;
    return status;
}
