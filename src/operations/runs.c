/* Operations on runs: lists with progress, partitions, changes; and named statements. */
#include "operations/runs.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "operations/operations.h"
#include "view/names.h"
#include "view/run.h"

const struct column run_answer_columns[RUN_ANSWER_COLUMNS] = {
    {COLUMN(INT, "run")}, {COLUMN(TEXT, "answer")}, {COLUMN(INT, "count")}};
const struct column registered_columns[REGISTERED_COLUMNS] = {{COLUMN(TEXT, "statement")},
                                                              {COLUMN(TEXT, "answer")}};

static void run_cells(struct request *request, const struct run_row *run, int64_t now_ms,
                      struct cell cells[static RUN_COLUMNS]) {
    struct run_gauge gauge = run_view_gauge(run, now_ms, NULL, 0);
    run_view_cells(request->arena, run, &gauge, cells);
}

pawl_status op_run_list(struct request *request, pawl_error *err) {
    struct runs_filter filter = {.state = request_choice(request, "state"),
                                 .open = request_bool(request, "open"),
                                 .name = request_text(request, "name"),
                                 .parent = request_number(request, "parent", 0),
                                 .before_id = request_after_number(request),
                                 .limit = request_limit(request)};
    struct run_list runs = {0};
    pawl_status status = request->store->ops->runs->runs(request->store, &filter, request->arena, &runs, err);
    if (status != PAWL_OK)
        return status;
    request->front->now(request->self, runs.now_ms);
    request_list(request, run_columns, RUN_COLUMNS);
    for (size_t i = 0; i < runs.count; i++) {
        struct cell cells[RUN_COLUMNS];
        run_cells(request, &runs.runs[i], runs.now_ms, cells);
        request_row(request, cells);
    }
    bool full = runs.count > 0 && runs.count == (size_t)filter.limit;
    return request_list_end_number(request, full ? runs.runs[runs.count - 1].id : 0, err);
}

static pawl_status find(struct request *request, struct run_row *run, pawl_error *err) {
    int64_t now_ms = 0;
    pawl_status status =
        run_view_find(request->store, request_text(request, "run"), request->arena, run, &now_ms, err);
    if (status == PAWL_OK)
        request->front->now(request->self, now_ms);
    return status;
}

pawl_status run_show(struct request *request, struct run_row *run, pawl_error *err) {
    struct cell cells[RUN_COLUMNS];
    int64_t now_ms = 0;
    pawl_status status =
        run_view_find(request->store, request_text(request, "run"), request->arena, run, &now_ms, err);
    if (status != PAWL_OK)
        return status;
    request->front->now(request->self, now_ms);
    run_cells(request, run, now_ms, cells);
    return request_record(request, run_columns, RUN_COLUMNS, cells, err);
}

/* ---- Partitions */

/* Where a page begins: "run:part". */
static pawl_status read_after(const struct request *request, struct partitions_filter *filter,
                              pawl_error *err) {
    pawl_str key = request_after(request);
    int64_t part = 0;
    filter->after_run = filter->after_part = -1;
    if (str_absent(key))
        return PAWL_OK;
    const char *colon = memchr(key.ptr, ':', key.len);
    size_t len = colon != NULL ? (size_t)(colon - key.ptr) : key.len;
    if (colon == NULL || !str_to_i64((pawl_str){key.ptr, len}, 0, INT64_MAX, &filter->after_run) ||
        !str_to_i64((pawl_str){colon + 1, key.len - len - 1}, 0, INT32_MAX, &part))
        return error_set(err, PAWL_INVALID, "runs", "the cursor is not one of this list");
    filter->after_part = (int)part;
    return PAWL_OK;
}

/* Of one run, or of all of them. */
static pawl_status list_partitions(struct request *request, int64_t quiet_ms, pawl_error *err) {
    struct partitions_filter filter = {.state = request_choice(request, "state"),
                                       .quiet_ms = request_number(request, "quiet_ms", quiet_ms),
                                       .limit = request_limit(request)};
    struct partition_list found = {0};
    struct run_row run = {0};
    pawl_status status = read_after(request, &filter, err);
    if (status == PAWL_OK && request_value(request, "run").present)
        status = find(request, &run, err);
    filter.run = run.id;
    if (status == PAWL_OK)
        status = request->store->ops->runs->partitions(request->store, &filter, request->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    request->front->now(request->self, found.now_ms);
    REQUEST_CELLS(request, run_partition, found.partitions, found.count);
    const struct partition_row *last = found.count > 0 ? &found.partitions[found.count - 1] : NULL;
    const char *next = last != NULL && found.count == (size_t)filter.limit
                           ? arena_printf(request->arena, "%" PRId64 ":%d", last->run, last->part)
                           : NULL;
    return request_list_end(request, next, err);
}

pawl_status op_run_partitions(struct request *request, pawl_error *err) {
    return list_partitions(request, 0, err);
}
pawl_status op_run_stuck(struct request *request, pawl_error *err) {
    return list_partitions(request, PAWL_QUIET_MS_DEFAULT, err);
}

/* ---- Acting */

/* conflict: why it cannot be done any more. */
static pawl_status answer(struct request *request, const struct run_row *run, struct run_retried out,
                          const char *conflict, pawl_error *err) {
    if (out.answer == ANSWER_NOT_FOUND)
        return error_set(err, PAWL_NOT_FOUND, "run", "the run %" PRId64 " is gone", run->id);
    if (out.answer == ANSWER_CONFLICT)
        return error_set(err, PAWL_CONFLICT, "run", "the run %" PRId64 " is %s: %s", run->id,
                         run_state_name(run->state), conflict);
    return REQUEST_RECORD(request, run_answer_columns, err, cell_int(run->id),
                          cell_cstr(answer_name(out.answer)), cell_int(out.count));
}

static pawl_status acted(struct request *request, const struct run_row *run, enum store_answer said,
                         const char *action, pawl_error *err) {
    pawl_status status = PAWL_OK;
    if (said == ANSWER_APPLIED)
        status = request->front->note(request->self, action,
                                      arena_printf(request->arena, "%" PRId64, run->id), err);
    return status == PAWL_OK
               ? answer(request, run, (struct run_retried){.answer = said, .count = 1}, "it has ended", err)
               : status;
}

static pawl_status set_paused(struct request *request, bool paused, pawl_error *err) {
    struct run_row run = {.id = 0};
    enum store_answer said = ANSWER_APPLIED;
    pawl_status status = find(request, &run, err);
    if (status == PAWL_OK)
        status = request->store->ops->runs->pause(request->store, run.id, paused, &said, err);
    return status == PAWL_OK ? acted(request, &run, said, paused ? "run pause" : "run resume", err) : status;
}

pawl_status op_run_pause(struct request *request, pawl_error *err) { return set_paused(request, true, err); }
pawl_status op_run_resume(struct request *request, pawl_error *err) {
    return set_paused(request, false, err);
}

pawl_status op_run_cancel(struct request *request, pawl_error *err) {
    struct run_row run = {.id = 0};
    enum store_answer said = ANSWER_APPLIED;
    pawl_status status = find(request, &run, err);
    if (status == PAWL_OK)
        status = request->front->confirm(request->self, "Cancel this run for good", err);
    if (status == PAWL_OK)
        status = request->store->ops->runs->cancel(request->store, run.id, &said, err);
    return status == PAWL_OK ? acted(request, &run, said, "run cancel", err) : status;
}

/* The run, and its partition when one was named. */
static pawl_status find_part(struct request *request, struct run_row *run, int *part, pawl_error *err) {
    pawl_str name = request_either(request, "name", "partition");
    struct partition_row partition = {.part = -1};
    pawl_status status = find(request, run, err);
    if (status == PAWL_OK && !str_absent(name))
        status = run_view_partition(request->store, run, name, request->arena, &partition, err);
    *part = partition.part;
    return status;
}

pawl_status op_run_retry(struct request *request, pawl_error *err) {
    struct run_row run = {.id = 0};
    struct run_retry in = {0};
    struct run_retried out = {0};
    pawl_status status = find_part(request, &run, &in.part, err);
    in.run = run.id;
    if (status == PAWL_OK)
        status = request->store->ops->runs->retry(request->store, &in, &out, err);
    return status == PAWL_OK ? answer(request, &run, out, "there is nothing to retry", err) : status;
}

pawl_status op_run_reset(struct request *request, pawl_error *err) {
    struct run_row run = {.id = 0};
    struct run_retried out = {.answer = ANSWER_APPLIED, .count = 1};
    struct partition_reset in = {.offset = request_number(request, "offset", 0)};
    pawl_status status = find_part(request, &run, &in.part, err);
    if (status == PAWL_OK)
        status = request_json(request, "cursor", &in.cursor, err);
    in.run = run.id;
    if (status == PAWL_OK)
        status = request->store->ops->runs->reset(request->store, &in, &out.answer, err);
    return status == PAWL_OK ? answer(request, &run, out, "its partitions can no longer be reset", err)
                             : status;
}

/* ---- Statements that store or select items */

pawl_status op_statement_list(struct request *request, pawl_error *err) {
    struct run_targets found = {0};
    pawl_status status = request->store->ops->runs->targets(request->store, request->arena, &found, err);
    return status == PAWL_OK
               ? request_rows(request, ROWS_OF(statement, found.targets, found.count), NULL, err)
               : status;
}

pawl_status statement_store(struct request *request, pawl_str sql, pawl_error *err) {
    struct run_target in = {.name = request_text(request, "name"), .sql = sql};
    pawl_status status = request->store->ops->events.sql_check(request->store, in.sql, false, err);
    if (status == PAWL_OK)
        status = request->store->ops->runs->target_put(request->store, &in, err);
    if (status != PAWL_OK)
        return status;
    return REQUEST_RECORD(request, registered_columns, err, cell_text(in.name), cell_cstr("registered"));
}

pawl_status op_statement_remove(struct request *request, pawl_error *err) {
    pawl_str name = request_text(request, "name");
    pawl_status status = request->store->ops->runs->target_remove(request->store, name, err);
    if (status != PAWL_OK)
        return status;
    return REQUEST_RECORD(request, registered_columns, err, cell_text(name), cell_cstr("removed"));
}
