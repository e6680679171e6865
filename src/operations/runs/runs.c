/* Operations on runs: lists with progress, partitions, changes; and named statements. */
#include "operations/runs/runs.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "operations/tables.h"
#include "view/names.h"
#include "view/run.h"
#include "work/run/start.h"

static const struct column run_answer_columns[] = {
    {COLUMN(INT, "run")}, {COLUMN(TEXT, "answer")}, {COLUMN(INT, "count")}};
static const struct column registered_columns[] = {{COLUMN(TEXT, "statement")}, {COLUMN(TEXT, "answer")}};

static void run_cells(struct request *request, const struct run_row *run, int64_t now_ms,
                      struct cell cells[static RUN_COLUMNS]) {
    struct run_gauge gauge = run_view_gauge(run, now_ms, NULL, 0);
    run_view_cells(request->arena, run, &gauge, cells);
}

static pawl_status run_list(struct request *request, pawl_error *err) {
    struct runs_filter filter = {.state = request_choice(request, "state"),
                                 .open = request_bool(request, "open"),
                                 .name = request_text(request, "name"),
                                 .parent = request_number(request, "parent", 0),
                                 .before_id = request_after_number(request),
                                 .limit = request_limit(request)};
    struct run_list runs = {0};
    TRY(request->store->ops->runs->runs(request->store, &filter, request->arena, &runs, err));
    request_now(request, runs.now_ms);
    request_list(request, run_columns, RUN_COLUMNS);
    for (size_t i = 0; i < runs.count; i++) {
        struct cell cells[RUN_COLUMNS];
        run_cells(request, &runs.runs[i], runs.now_ms, cells);
        request_row(request, cells);
    }
    bool full = runs.count > 0 && runs.count == (size_t)filter.limit;
    return request_list_end_number(request, full ? runs.runs[runs.count - 1].id : 0, err);
}

static pawl_status find(struct request *request, struct run_row *run, int64_t *now_ms, pawl_error *err) {
    TRY(run_view_find(request->store, request_text(request, "run"), request->arena, run, now_ms, err));
    request_now(request, *now_ms);
    return PAWL_OK;
}

pawl_status run_show(struct request *request, struct run_row *run, pawl_error *err) {
    struct cell cells[RUN_COLUMNS];
    int64_t now_ms = 0;
    TRY(find(request, run, &now_ms, err));
    run_cells(request, run, now_ms, cells);
    return request_record(request, run_columns, RUN_COLUMNS, cells, err);
}

static pawl_status run_read(struct request *request, pawl_error *err) {
    struct run_row run;
    return run_show(request, &run, err);
}

/* By key. */
static pawl_status run_items(struct request *request, pawl_error *err) {
    int64_t now_ms = 0;
    struct run_row run = {0};
    struct stored_items found = {0};
    TRY(find(request, &run, &now_ms, err));
    struct items_filter filter = {.run = run.id,
                                  .part = (int)request_number(request, "part", -1),
                                  .after_key = request_after(request),
                                  .limit = request_limit(request)};
    TRY(request->store->ops->runs->items(request->store, &filter, request->arena, &found, err));
    bool full = found.count > 0 && found.count == (size_t)filter.limit;
    const char *next = full ? arena_printf(request->arena, "%.*s", STR_ARG(found.items[found.count - 1].key))
                            : NULL;
    return request_rows(request, ROWS_OF(run_item, found.items, found.count), next, err);
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
    int64_t now_ms = 0;
    TRY(read_after(request, &filter, err));
    if (request_value(request, "run").present)
        TRY(find(request, &run, &now_ms, err));
    filter.run = run.id;
    TRY(request->store->ops->runs->partitions(request->store, &filter, request->arena, &found, err));
    request_now(request, found.now_ms);
    REQUEST_CELLS(request, run_partition, found.partitions, found.count);
    const struct partition_row *last = found.count > 0 ? &found.partitions[found.count - 1] : NULL;
    const char *next = last != NULL && found.count == (size_t)filter.limit
                           ? arena_printf(request->arena, "%" PRId64 ":%d", last->run, last->part)
                           : NULL;
    return request_list_end(request, next, err);
}

static pawl_status run_partitions(struct request *request, pawl_error *err) {
    return list_partitions(request, 0, err);
}
static pawl_status run_stuck(struct request *request, pawl_error *err) {
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
                         pawl_error *err) {
    return answer(request, run, (struct run_retried){.answer = said, .count = 1}, "it has ended", err);
}

static pawl_status set_paused(struct request *request, bool paused, pawl_error *err) {
    struct run_row run = {.id = 0};
    enum store_answer said = ANSWER_APPLIED;
    int64_t now_ms = 0;
    TRY(find(request, &run, &now_ms, err));
    TRY(request->store->ops->runs->pause(request->store, run.id, paused, &said, err));
    return acted(request, &run, said, err);
}

static pawl_status run_pause(struct request *request, pawl_error *err) {
    return set_paused(request, true, err);
}
static pawl_status run_resume(struct request *request, pawl_error *err) {
    return set_paused(request, false, err);
}

static pawl_status run_cancel(struct request *request, pawl_error *err) {
    struct run_row run = {.id = 0};
    enum store_answer said = ANSWER_APPLIED;
    int64_t now_ms = 0;
    TRY(find(request, &run, &now_ms, err));
    TRY(request_confirm(request, "Cancel this run for good", err));
    TRY(request->store->ops->runs->cancel(request->store, run.id, &said, err));
    return acted(request, &run, said, err);
}

/* The run, and its partition when one was named. */
static pawl_status find_part(struct request *request, struct run_row *run, int *part, pawl_error *err) {
    pawl_str name = request_text(request, "partition");
    struct partition_row partition = {.part = -1};
    int64_t now_ms = 0;
    TRY(find(request, run, &now_ms, err));
    if (!str_absent(name))
        TRY(run_view_partition(request->store, run, name, request->arena, &partition, err));
    *part = partition.part;
    return PAWL_OK;
}

static pawl_status run_retry(struct request *request, pawl_error *err) {
    struct run_row run = {.id = 0};
    struct run_retry in = {0};
    struct run_retried out = {0};
    TRY(find_part(request, &run, &in.part, err));
    in.run = run.id;
    TRY(request->store->ops->runs->retry(request->store, &in, &out, err));
    return answer(request, &run, out, "there is nothing to retry", err);
}

static pawl_status run_reset(struct request *request, pawl_error *err) {
    struct run_row run = {.id = 0};
    struct run_retried out = {.answer = ANSWER_APPLIED, .count = 1};
    struct partition_reset in = {.offset = request_number(request, "offset", 0)};
    TRY(find_part(request, &run, &in.part, err));
    TRY(request_json(request, "cursor", &in.cursor, err));
    in.run = run.id;
    TRY(request->store->ops->runs->reset(request->store, &in, &out.answer, err));
    return answer(request, &run, out, "its partitions can no longer be reset", err);
}

/* ---- Statements that store or select items */

static pawl_status statement_list(struct request *request, pawl_error *err) {
    struct run_targets found = {0};
    TRY(request->store->ops->runs->targets(request->store, request->arena, &found, err));
    return request_rows(request, ROWS_OF(statement, found.targets, found.count), NULL, err);
}

static pawl_status statement_set(struct request *request, pawl_error *err) {
    struct run_target in = {.name = request_text(request, "name"), .sql = request_text(request, "sql")};
    TRY(request->store->ops->events.sql_check(request->store, in.sql, false, err));
    TRY(request->store->ops->runs->target_put(request->store, &in, err));
    return REQUEST_RECORD(request, registered_columns, err, cell_text(in.name), cell_cstr("registered"));
}

static pawl_status statement_remove(struct request *request, pawl_error *err) {
    pawl_str name = request_text(request, "name");
    TRY(request->store->ops->runs->target_remove(request->store, name, err));
    return REQUEST_RECORD(request, registered_columns, err, cell_text(name), cell_cstr("deleted"));
}

/* ---- The tables */

#define FIELD_ROW_RUN                                                                                        \
    { TEXT_FIELD(IN_PATH, "run", PAWL_NAME_BYTES_MAX, "The run: its number or its key."), .required = true }
#define FIELD_ROW_QUIET(text)                                                                                \
    { DURATION_FIELD(IN_QUERY, "quiet_ms", 1, PAWL_STALE_MS_MAX, (text)) }
#define PARTITION_FIELD(place) TEXT_FIELD(place, "partition", PAWL_PARTITION_NAME_BYTES_MAX, "The partition.")

static const struct field list_fields[] = {
    {CHOICE_FIELD(IN_QUERY, "state", RUN_STATES, "Only in this state.")},
    {BOOL_FIELD(IN_QUERY, "open", "Only those that are still active.")},
    {TEXT_FIELD(IN_QUERY, "name", PAWL_NAME_BYTES_MAX, "Only with this name.")},
    {INT_FIELD(IN_QUERY, "parent", 1, 0, "Only children of this run.")}};
static const struct field run_fields[] = {FIELD_ROW_RUN};
static const struct field show_fields[] = {
    FIELD_ROW_RUN,
    FLAG_WATCH,
    {DURATION_FIELD(IN_TERMINAL, "timeout_ms", 1, PAWL_HISTORY_MS_MAX, "How long to watch it.")}};
static const struct field partition_fields[] = {
    FIELD_ROW_RUN,
    {CHOICE_FIELD(IN_QUERY, "state", "active|done|failed|cancelled", "Only in this state.")},
    FIELD_ROW_QUIET("Only stuck ones: active, and not updated for this long.")};
static const struct field stuck_fields[] = {
    FIELD_ROW_QUIET("Not updated for this long; 10 minutes by default.")};
static const struct field item_fields[] = {FIELD_ROW_RUN,
                                           {INT_FIELD(IN_QUERY, "part", 0, PAWL_PARTITIONS_PER_RUN_MAX,
                                                      "Only of the partition with this index, from 0.")}};
static const struct field cancel_fields[] = {FIELD_ROW_RUN, FLAG_YES};
static const struct field retry_fields[] = {FIELD_ROW_RUN, {PARTITION_FIELD(IN_BODY), .word = true}};
static const struct field reset_fields[] = {
    FIELD_ROW_RUN,
    {PARTITION_FIELD(IN_PATH), .required = true},
    {INT_FIELD(IN_BODY, "offset", 0, 0, "Where it begins; 0 without it.")},
    {FIELD(FIELD_JSON, IN_BODY, "cursor", "The cursor that the next page is fetched with.")}};
static const struct field statement_fields[] = {FIELD_ROW_NAME("The statement.")};
static const struct field put_statement_fields[] = {
    FIELD_ROW_NAME("The statement."),
    {TEXT_FIELD(IN_BODY, "sql", PAWL_TARGET_SQL_BYTES_MAX, "It has one parameter, a JSON array."),
     .required = true, .example = "\"SELECT 1\"", .word = true, .file = true}};

static const struct operation operations[] = {
    {OPERATION("run.list", "List runs, newest first"), READS("/v1/runs"), FIELDS(list_fields), .paged = PAGED,
     COLUMNS(run_columns), .run = run_list, .details = "--after N continues with the runs older than N.",
     .example = "pawl run list --open\npawl run list --state failed", .empty = "no runs"},
    {OPERATION("run.show", "Show a run: its progress, its rate, and the time left"), READS("/v1/runs/{run}"),
     FIELDS(show_fields), RECORD(run_columns), .run = run_read,
     .details =
         "With --watch it is shown every second until it has ended, or until --timeout is over; the exit "
         "code is 0 when it completed and 73 when it failed or was cancelled.",
     .example = "pawl run show 7 --watch"},
    {OPERATION("run.partitions", "List the partitions of a run with their progress and timings"),
     READS("/v1/runs/{run}/partitions"), FIELDS(partition_fields), .paged = PAGED,
     COLUMNS(run_partition_columns), .run = run_partitions, .example = "pawl run partitions 7 --state active",
     .empty = "no partitions"},
    {OPERATION("run.stuck", "List the partitions of every run that show no progress"),
     READS("/v1/runs/stuck"), FIELDS(stuck_fields), .paged = PAGED, COLUMNS(run_partition_columns),
     .run = run_stuck, .empty = "no partitions are stuck"},
    {OPERATION("run.items", "List the items of a run that has no target of its own, by key"),
     READS("/v1/runs/{run}/items"), FIELDS(item_fields), .paged = PAGED, COLUMNS(run_item_columns),
     .run = run_items, .empty = "no items"},
    {OPERATION("run.reset", "Restart a partition, from an offset or a cursor"),
     POSTS("/v1/runs/{run}/partitions/{partition}/reset"), FIELDS(reset_fields), RECORD(run_answer_columns),
     .run = run_reset,
     .details = "Without --offset and --cursor it begins from the first page. Pages that are on the way are "
                "of an older generation then, and are skipped. A partition that was done or failed is open "
                "again, and so is a run that failed.",
     .example = "pawl run reset 7 0..125 --offset 60"},
    {OPERATION("run.retry", "Retry a partition, all failed ones, or a failed consolidation"),
     POSTS("/v1/runs/{run}/retry"), FIELDS(retry_fields), RECORD(run_answer_columns), .run = run_retry,
     .details =
         "Partitions continue where they stopped, in a new generation: nothing is fetched twice. Without "
         "PARTITION, every failed one does; if there is none, the failed consolidation is retried. A stuck "
         "partition is named.",
     .example = "pawl run retry 7\npawl run retry 7 0..125"},
    {OPERATION("run.pause", "Pause a run: no new pages start, those in flight finish"),
     POSTS("/v1/runs/{run}/pause"), FIELDS(run_fields), RECORD(run_answer_columns), .run = run_pause},
    {OPERATION("run.resume", "Resume a paused run"), POSTS("/v1/runs/{run}/resume"), FIELDS(run_fields),
     RECORD(run_answer_columns), .run = run_resume},
    {OPERATION("run.cancel", "Cancel a run for good; what it stored stays"), POSTS("/v1/runs/{run}/cancel"),
     FIELDS(cancel_fields), RECORD(run_answer_columns), .run = run_cancel},
};

static const struct operation statements[] = {
    {OPERATION("statement.list", "List the statements that runs use by name"), READS("/v1/statements"),
     COLUMNS(statement_columns), .run = statement_list, .empty = "no statements"},
    {OPERATION("statement.set", "Register a statement that stores the items of a page, or selects them"),
     PUTS("/v1/statements/{name}"), FIELDS(put_statement_fields), RECORD(registered_columns),
     .run = statement_set,
     .details = "The statement has one parameter ($1, SQLite ?1). One that stores is given a JSON array of "
                "objects with run, partition, key and payload, and runs in the transaction of the page, with "
                "the worker's rights.",
     .example = "pawl statement set products products.sql"},
    {OPERATION("statement.delete", "Delete a statement that no open run uses"),
     DELETES("/v1/statements/{name}"), FIELDS(statement_fields), RECORD(registered_columns),
     .run = statement_remove},
};

const struct operation_table run_operations = OPERATION_TABLE(operations);
const struct operation_table statement_operations = OPERATION_TABLE(statements);
