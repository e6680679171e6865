/* Queries about runs and targets on SQLite, and housekeeping of runs. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "store/sqlite/events/user_sql.h"
#include "store/sqlite/runs/runs.h"

static pawl_status runs_in(struct operation *op, const struct runs_filter *filter, struct arena *arena,
                           struct run_list *out) {
    struct id_list ids;
    bool found = false;
    TRY(jobs_ids(SQL(op, SQLITE_Q_RUN_PICK, ROW_OF(runs_filter_shape, filter)), op->scratch, &ids));
    struct run_list list = {arena_array(arena, ids.count, sizeof *list.runs), ids.count, op->now_ms};
    if (list.runs == NULL)
        return operation_no_memory(op);
    for (size_t i = 0; i < ids.count; i++) {
        TRY(runs_load(op, ids.ids[i], arena, &list.runs[i], &found));
        TRY(runs_load_sums(op, &list.runs[i]));
    }
    *out = list;
    return PAWL_OK;
}

pawl_status sqlite_runs_runs(struct store *store, const struct runs_filter *filter, struct arena *arena,
                             struct run_list *out, pawl_error *err) {
    struct run_list list = {NULL, 0, 0};
    struct operation op = operation_read(store, "runs", check_runs_filter(filter, err), err);
    return operation_give(&op, runs_in(&op, filter, arena, &list), out, &list);
}

pawl_status sqlite_runs_partitions(struct store *store, const struct partitions_filter *filter,
                                   struct arena *arena, struct partition_list *out, pawl_error *err) {
    struct operation op = operation_read(store, "partitions", check_partitions_filter(filter, err), err);
    return operation_list(
        &op, SQL(&op, SQLITE_Q_RUN_PARTITION_LIST, ROW_OF(partitions_filter_shape, filter), op.now_ms),
        &partition_shape, arena, ROWS_OUT_NOW(out, partitions));
}

pawl_status sqlite_runs_target_put(struct store *store, const struct run_target *in, pawl_error *err) {
    struct operation op = operation_write(store, "target_put", check_run_target(in, err), err);
    return operation_end(&op, statement_run(SQL(&op, SQLITE_Q_RUN_TARGET_PUT, in->name, in->sql, op.now_ms)));
}

static pawl_status target_remove_in(struct operation *op, pawl_str name) {
    int64_t changed = 0;
    bool used = false;
    pawl_status status = statement_any(SQL(op, SQLITE_Q_RUN_TARGET_USED, name), &used);
    if (status != PAWL_OK)
        return status;
    if (used)
        return run_target_used(name, op->err);
    status = statement_run_count(SQL(op, SQLITE_Q_RUN_TARGET_DELETE, name), &changed);
    return status == PAWL_OK && changed == 0 ? run_target_missing(name, op->err) : status;
}

pawl_status sqlite_runs_target_remove(struct store *store, pawl_str name, pawl_error *err) {
    struct operation op = operation_write(store, "target_remove", PAWL_OK, err);
    return operation_end(&op, target_remove_in(&op, name));
}

/* Collects the rows of a statement that selects. */
struct picked {
    struct operation *op;
    struct arena *arena;
    struct stored_items list;
    size_t cap;
};

static pawl_status pick(void *self, pawl_str key, pawl_str payload, pawl_error *err) {
    struct picked *picked = self;
    struct stored_item item = {0};
    TRY(list_grow(picked->op, picked->arena, (void **)&picked->list.items, &picked->cap, picked->list.count,
                  sizeof item));
    TRY(str_dup(picked->arena, key, &item.key, err));
    TRY(str_dup(picked->arena, payload, &item.payload, err));
    picked->list.items[picked->list.count++] = item;
    return PAWL_OK;
}

pawl_status sqlite_runs_page_select(struct store *store, pawl_str name, pawl_str json, struct arena *arena,
                                    struct stored_items *out, pawl_error *err) {
    pawl_str sql = {NULL, 0};
    struct operation op = operation_read(store, "page_select", PAWL_OK, err);
    if (op.status != PAWL_OK)
        return op.status;
    struct picked picked = {.op = &op, .arena = arena};
    struct statement s = SQL(&op, SQLITE_Q_RUN_TARGET_FIND, name);
    if (statement_next(&s))
        sql = column_copy(&s, 0, op.scratch);
    pawl_status status = statement_end(&s);
    if (status == PAWL_OK && str_absent(sql))
        status = run_target_missing(name, err);
    if (status == PAWL_OK)
        status = user_sql_pairs(&op, sql, json, pick, &picked, err);
    status = operation_end(&op, status);
    if (status == PAWL_OK)
        *out = picked.list;
    return status;
}

/* A statement with the run as its only parameter. */
static pawl_status run_by_id(struct operation *op, enum sqlite_query query, int64_t run) {
    return statement_run(SQL(op, query, run));
}

static pawl_status remove_run(struct operation *op, int64_t run) {
    pawl_str key = {NULL, 0};
    TRY(run_by_id(op, SQLITE_Q_RUN_PARTITION_DELETE, run));
    TRY(run_by_id(op, SQLITE_Q_RUN_DELETE, run));
    TRY(run_key_text(run, op->scratch, &key, op->err));
    return statement_run(SQL(op, SQLITE_Q_RUN_KEY_FORGET, key));
}

static pawl_status maintain_in(struct operation *op, int rows_max, struct runs_maintain_result *out) {
    struct id_list runs;
    int64_t left = rows_max;
    pawl_status status =
        jobs_ids(SQL(op, SQLITE_Q_RUN_EXPIRED, op->now_ms - PAWL_RUN_RETENTION_MS_DEFAULT, rows_max),
                 op->scratch, &runs);
    for (size_t i = 0; status == PAWL_OK && left > 0 && i < runs.count; i++) {
        int64_t gone = 0;
        bool more = false;
        status = statement_run_count(SQL(op, SQLITE_Q_RUN_ITEM_DELETE, runs.ids[i], left), &gone);
        left -= gone;
        out->items_removed += gone;
        if (status != PAWL_OK)
            break;
        status = statement_any(SQL(op, SQLITE_Q_RUN_ITEM_ANY, runs.ids[i]), &more);
        if (status != PAWL_OK || more)
            break;
        status = remove_run(op, runs.ids[i]);
        out->runs_removed++;
    }
    return status;
}

pawl_status sqlite_runs_maintain(struct store *store, int rows_max, struct runs_maintain_result *out,
                                 pawl_error *err) {
    struct runs_maintain_result result = {0, 0};
    struct operation op = operation_write(store, "runs_maintain", check_run_rows_max(rows_max, err), err);
    return operation_give(&op, maintain_in(&op, rows_max, &result), out, &result);
}
