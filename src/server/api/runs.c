/* Runs: started, listed with how far they are, their partitions and items, and what can be done with them. */
#include <inttypes.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "server/api/fields.h"
#include "server/api/tooling.h"
#include "server/http/call.h"
#include "server/server.h"
#include "view/names.h"
#include "view/run.h"
#include "work/run/start.h"

static void row_of(struct call *call, const struct run_row *run, int64_t now_ms, struct cell *cells) {
    struct run_gauge gauge = run_view_gauge(run, now_ms, NULL, 0);
    run_view_cells(call->arena, run, &gauge, cells);
}

static pawl_status list(struct call *call, pawl_error *err) {
    struct runs_filter filter = {.state = call_choice(call, "state"),
                                 .open = call_bool(call, "open"),
                                 .name = call_text(call, "name"),
                                 .parent = call_int(call, "parent", 0),
                                 .before_id = call_cursor_number(call),
                                 .limit = call_limit(call)};
    struct run_list runs = {0};
    pawl_status status = call->store->ops->runs->runs(call->store, &filter, call->arena, &runs, err);
    if (status != PAWL_OK)
        return status;
    call_list(call);
    for (size_t i = 0; i < runs.count; i++) {
        struct cell cells[RUN_COLUMNS];
        row_of(call, &runs.runs[i], runs.now_ms, cells);
        call_row(call, cells);
    }
    return call_list_end_number(call, runs.count == (size_t)filter.limit ? runs.runs[runs.count - 1].id : 0,
                                err);
}

static pawl_status find(struct call *call, struct run_row *run, int64_t *now_ms, pawl_error *err) {
    return run_view_find(call->store, call_text(call, "run"), call->arena, run, now_ms, err);
}

static pawl_status show(struct call *call, pawl_error *err) {
    struct run_row run;
    struct cell cells[RUN_COLUMNS];
    int64_t now_ms = 0;
    pawl_status status = find(call, &run, &now_ms, err);
    if (status != PAWL_OK)
        return status;
    row_of(call, &run, now_ms, cells);
    call_record(call, cells);
    return PAWL_OK;
}

/* ---- Partitions and items */

static pawl_status write_partitions(struct call *call, const struct partitions_filter *filter,
                                    pawl_error *err) {
    struct partition_list found = {0};
    pawl_status status = call->store->ops->runs->partitions(call->store, filter, call->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    CALL_ROWS(call, run_partition, found.partitions, found.count);
    const struct partition_row *last = found.count > 0 ? &found.partitions[found.count - 1] : NULL;
    const char *next = last != NULL && found.count == (size_t)filter->limit
                           ? arena_printf(call->arena, "%" PRId64 ":%d", last->run, last->part)
                           : NULL;
    return call_list_end(call, next, err);
}

/* Where a page of partitions begins: "run:part". */
static pawl_status partition_cursor(struct call *call, struct partitions_filter *filter, pawl_error *err) {
    pawl_str key = call_cursor(call), run, part = {NULL, 0};
    int64_t number = 0;
    filter->after_run = -1;
    filter->after_part = -1;
    if (str_absent(key))
        return PAWL_OK;
    run = key;
    for (size_t i = 0; i < key.len; i++) {
        if (key.ptr[i] == ':') {
            run.len = i;
            part = (pawl_str){key.ptr + i + 1, key.len - i - 1};
        }
    }
    if (!str_to_i64(run, 0, INT64_MAX, &filter->after_run) || !str_to_i64(part, 0, INT32_MAX, &number))
        return error_set(err, PAWL_INVALID, "runs", "the cursor is not one of this list");
    filter->after_part = (int)number;
    return PAWL_OK;
}

static pawl_status partitions(struct call *call, pawl_error *err) {
    struct partitions_filter filter = {.state = call_choice(call, "state"),
                                       .quiet_ms = call_int(call, "quiet_ms", 0),
                                       .limit = call_limit(call)};
    struct run_row run;
    int64_t now_ms = 0;
    pawl_status status = find(call, &run, &now_ms, err);
    if (status == PAWL_OK)
        status = partition_cursor(call, &filter, err);
    if (status != PAWL_OK)
        return status;
    filter.run = run.id;
    return write_partitions(call, &filter, err);
}

static pawl_status stuck(struct call *call, pawl_error *err) {
    struct partitions_filter filter = {.quiet_ms = call_int(call, "quiet_ms", PAWL_QUIET_MS_DEFAULT),
                                       .limit = call_limit(call)};
    pawl_status status = partition_cursor(call, &filter, err);
    return status == PAWL_OK ? write_partitions(call, &filter, err) : status;
}

static pawl_status items(struct call *call, pawl_error *err) {
    struct items_filter filter = {
        .part = (int)call_int(call, "part", -1), .after_key = call_cursor(call), .limit = call_limit(call)};
    struct stored_items found = {0};
    struct run_row run;
    int64_t now_ms = 0;
    pawl_status status = find(call, &run, &now_ms, err);
    if (status == PAWL_OK) {
        filter.run = run.id;
        status = call->store->ops->runs->items(call->store, &filter, call->arena, &found, err);
    }
    if (status != PAWL_OK)
        return status;
    call_list(call);
    call_rows(call, found.items, sizeof *found.items, found.count);
    const char *next = found.count == (size_t)filter.limit
                           ? arena_printf(call->arena, "%.*s", STR_ARG(found.items[found.count - 1].key))
                           : NULL;
    return call_list_end(call, next, err);
}

/* ---- Starting */

static const struct column begun_columns[] = {
    {COLUMN(INT, "run")}, {COLUMN(TEXT, "key")}, {COLUMN(TEXT, "answer")}, {COLUMN(INT, "plan_job")}};

static pawl_status start(struct call *call, pawl_error *err) {
    struct run_doc doc = {0};
    struct run_begin in = {.doc = &doc,
                           .params = call_value(call, "params")->tree,
                           .key = call_text(call, "key"),
                           .traceparent = call_text(call, "traceparent")};
    struct run_begun begun = {0};
    pawl_str text;
    pawl_status status = call_json(call, "document", &text, err);
    if (status == PAWL_OK)
        status = run_doc_parse(call->arena, text, false, &doc, err);
    if (status == PAWL_OK && call->server->config.tools != NULL)
        status = tooling_open(call->server, &in.tools, err);
    in.wait = tools_wait(in.tools, NULL);
    if (status == PAWL_OK)
        status = run_begin(call->store, &in, call->arena, &begun, err);
    tools_free(in.tools);
    if (status != PAWL_OK)
        return status;
    call_record(call, (struct cell[]){begun.run > 0 ? cell_int(begun.run) : cell_none(), cell_text(begun.key),
                                      cell_cstr(begun.again          ? "duplicate"
                                                : begun.plan_job > 0 ? "planning"
                                                                     : "started"),
                                      begun.plan_job > 0 ? cell_int(begun.plan_job) : cell_none()});
    return PAWL_OK;
}

/* ---- Acting */

static const struct column answer_columns[] = {
    {COLUMN(INT, "run")}, {COLUMN(TEXT, "answer")}, {COLUMN(INT, "count")}};

static pawl_status answered(struct call *call, const struct run_row *run, enum store_answer answer,
                            int64_t count, const char *conflict, pawl_error *err) {
    if (answer == ANSWER_NOT_FOUND)
        return error_set(err, PAWL_NOT_FOUND, "run", "the run %" PRId64 " is gone", run->id);
    if (answer == ANSWER_CONFLICT)
        return error_set(err, PAWL_CONFLICT, "run", "the run %" PRId64 " is %s: %s", run->id,
                         run_state_name(run->state), conflict);
    call_record(call, (struct cell[]){cell_int(run->id), cell_cstr(answer_name(answer)), cell_int(count)});
    return PAWL_OK;
}

static pawl_status set_paused(struct call *call, bool paused, pawl_error *err) {
    struct run_row run;
    enum store_answer answer = ANSWER_APPLIED;
    int64_t now_ms = 0;
    pawl_status status = find(call, &run, &now_ms, err);
    if (status == PAWL_OK)
        status = call->store->ops->runs->pause(call->store, run.id, paused, &answer, err);
    return status == PAWL_OK ? answered(call, &run, answer, 1, "it has ended", err) : status;
}

static pawl_status pause_it(struct call *call, pawl_error *err) { return set_paused(call, true, err); }
static pawl_status resume(struct call *call, pawl_error *err) { return set_paused(call, false, err); }

static pawl_status cancel(struct call *call, pawl_error *err) {
    struct run_row run;
    enum store_answer answer = ANSWER_APPLIED;
    int64_t now_ms = 0;
    pawl_status status = find(call, &run, &now_ms, err);
    if (status == PAWL_OK)
        status = call->store->ops->runs->cancel(call->store, run.id, &answer, err);
    return status == PAWL_OK ? answered(call, &run, answer, 1, "it has ended", err) : status;
}

static pawl_status again(struct call *call, const struct run_row *run, int part, pawl_error *err) {
    struct run_retry in = {run->id, part};
    struct run_retried out = {0};
    pawl_status status = call->store->ops->runs->retry(call->store, &in, &out, err);
    return status == PAWL_OK ? answered(call, run, out.answer, out.count, "there is nothing to retry", err)
                             : status;
}

static pawl_status retry(struct call *call, pawl_error *err) {
    struct run_row run;
    int64_t now_ms = 0;
    pawl_status status = find(call, &run, &now_ms, err);
    return status == PAWL_OK ? again(call, &run, -1, err) : status;
}

static pawl_status find_part(struct call *call, struct run_row *run, struct partition_row *partition,
                             pawl_error *err) {
    int64_t now_ms = 0;
    pawl_status status = find(call, run, &now_ms, err);
    return status == PAWL_OK
               ? run_view_partition(call->store, run, call_text(call, "name"), call->arena, partition, err)
               : status;
}

static pawl_status retry_part(struct call *call, pawl_error *err) {
    struct run_row run;
    struct partition_row partition;
    pawl_status status = find_part(call, &run, &partition, err);
    return status == PAWL_OK ? again(call, &run, partition.part, err) : status;
}

static pawl_status reset_part(struct call *call, pawl_error *err) {
    struct run_row run;
    struct partition_row partition;
    enum store_answer answer = ANSWER_APPLIED;
    struct partition_reset in = {.offset = call_int(call, "offset", 0)};
    pawl_status status = find_part(call, &run, &partition, err);
    if (status == PAWL_OK)
        status = call_json(call, "cursor", &in.cursor, err);
    if (status != PAWL_OK)
        return status;
    in.run = run.id;
    in.part = partition.part;
    status = call->store->ops->runs->reset(call->store, &in, &answer, err);
    return status == PAWL_OK ? answered(call, &run, answer, 1, "its partitions can no longer be reset", err)
                             : status;
}

/* ---- Statements that store or select items */

static pawl_status statements(struct call *call, pawl_error *err) {
    struct run_targets found = {0};
    pawl_status status = call->store->ops->runs->targets(call->store, call->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    call_list(call);
    call_rows(call, found.targets, sizeof *found.targets, found.count);
    return call_list_end(call, NULL, err);
}

static const struct column registered_columns[] = {{COLUMN(TEXT, "statement")}, {COLUMN(TEXT, "answer")}};

static pawl_status put_statement(struct call *call, pawl_error *err) {
    struct run_target in = {.name = call_text(call, "name"), .sql = call_text(call, "sql")};
    pawl_status status = call->store->ops->events.sql_check(call->store, in.sql, false, err);
    if (status == PAWL_OK)
        status = call->store->ops->runs->target_put(call->store, &in, err);
    if (status == PAWL_OK)
        call_record(call, (struct cell[]){cell_text(in.name), cell_cstr("registered")});
    return status;
}

static pawl_status remove_statement(struct call *call, pawl_error *err) {
    return call->store->ops->runs->target_remove(call->store, call_text(call, "name"), err);
}

/* ---- Fields and routes */

#define FIELD_ROW_RUN                                                                                        \
    { TEXT_FIELD(IN_PATH, "run", PAWL_NAME_BYTES_MAX, "The run: its number or its key."), .required = true }
#define FIELD_ROW_QUIET(text)                                                                                \
    { INT_FIELD(IN_QUERY, "quiet_ms", 1, PAWL_STALE_MS_MAX, (text)) }

static const struct field list_fields[] = {
    {CHOICE_FIELD(IN_QUERY, "state", "running|consolidating|nested|in repair|completed|failed|cancelled",
                  "Only in this state.")},
    {FIELD(FIELD_BOOL, IN_QUERY, "open", "Only those that are still active.")},
    {TEXT_FIELD(IN_QUERY, "name", PAWL_NAME_BYTES_MAX, "Only with this name.")},
    {INT_FIELD(IN_QUERY, "parent", 1, 0, "Only children of this run.")},
    FIELD_ROW_CURSOR,
    FIELD_ROW_LIMIT};
static const struct field run_fields[] = {FIELD_ROW_RUN};
static const struct field partition_fields[] = {
    FIELD_ROW_RUN,
    {CHOICE_FIELD(IN_QUERY, "state", "active|done|failed|cancelled", "Only in this state.")},
    FIELD_ROW_QUIET("Only stuck ones: not updated for this long."),
    FIELD_ROW_CURSOR,
    FIELD_ROW_LIMIT};
static const struct field stuck_fields[] = {
    FIELD_ROW_QUIET("Not updated for this long; 10 minutes by default."), FIELD_ROW_CURSOR, FIELD_ROW_LIMIT};
static const struct field item_fields[] = {FIELD_ROW_RUN,
                                           {INT_FIELD(IN_QUERY, "part", 0, PAWL_PARTITIONS_PER_RUN_MAX,
                                                      "Only of the partition at this place, from 0.")},
                                           FIELD_ROW_CURSOR,
                                           FIELD_ROW_LIMIT};
static const struct field start_fields[] = {
    {FIELD(FIELD_OBJECT, IN_BODY, "document", "What docs/running-runs.md describes, as JSON."),
     .required = true},
    {FIELD(FIELD_OBJECT, IN_BODY, "params", "Instead of the document's.")},
    {TEXT_FIELD(IN_BODY, "key", PAWL_NAME_BYTES_MAX,
                "Instead of the document's: a second run with it is not started.")},
    {TEXT_FIELD(IN_BODY, "traceparent", 100, "Given to its jobs.")}};
#define FIELD_ROW_PART                                                                                       \
    { TEXT_FIELD(IN_PATH, "name", PAWL_PARTITION_NAME_BYTES_MAX, "The partition."), .required = true }
static const struct field part_fields[] = {FIELD_ROW_RUN, FIELD_ROW_PART};
static const struct field reset_fields[] = {
    FIELD_ROW_RUN,
    FIELD_ROW_PART,
    {INT_FIELD(IN_BODY, "offset", 0, 0, "Where it begins; 0 without it.")},
    {FIELD(FIELD_JSON, IN_BODY, "cursor", "The cursor of its next page.")}};
static const struct field statement_fields[] = {FIELD_ROW_NAME("The statement.")};
static const struct field put_statement_fields[] = {FIELD_ROW_NAME("The statement."),
                                                    {.name = "sql",
                                                     .in = IN_BODY,
                                                     .type = FIELD_TEXT,
                                                     .required = true,
                                                     .min = 1,
                                                     .max = PAWL_TARGET_SQL_BYTES_MAX,
                                                     .help = "It has one parameter, a JSON array."}};

#define CHANGES(route_path, route_name, text, taken, function)                                               \
    {                                                                                                        \
        ACTS(METHOD_POST, route_path, route_name), .tag = "runs", .summary = (text), FIELDS(taken),          \
                                                   .shape = ANSWER_RECORD, COLUMNS(answer_columns),          \
                                                   .run = (function)                                         \
    }

static const struct route routes[] = {
    {READS("/v1/runs", "listRuns"), .tag = "runs",
     .summary = "List runs with how far they are, the newest first", FIELDS(list_fields),
     COLUMNS(run_columns), .run = list},
    {ACTS(METHOD_POST, "/v1/runs", "startRun"), .tag = "runs", .summary = "Start a run from a document",
     FIELDS(start_fields), .shape = ANSWER_RECORD, COLUMNS(begun_columns), .run = start},
    {READS("/v1/runs/stuck", "listStuckPartitions"), .tag = "runs",
     .summary = "List the partitions of every run that show no progress", FIELDS(stuck_fields),
     COLUMNS(run_partition_columns), .run = stuck},
    {READS("/v1/runs/{run}", "readRun"), .tag = "runs",
     .summary = "Show one run: how far it is, how fast, how long it will take", FIELDS(run_fields),
     .shape = ANSWER_RECORD, COLUMNS(run_columns), .run = show},
    {READS("/v1/runs/{run}/partitions", "listRunPartitions"), .tag = "runs",
     .summary = "List its partitions: where each is, and its timings", FIELDS(partition_fields),
     COLUMNS(run_partition_columns), .run = partitions},
    {READS("/v1/runs/{run}/items", "listRunItems"), .tag = "runs",
     .summary = "List the items of a run that has no target of its own, by key", FIELDS(item_fields),
     COLUMNS(run_item_columns), .run = items},
    CHANGES("/v1/runs/{run}/pause", "pauseRun", "Start no more of its pages; those on the way end",
            run_fields, pause_it),
    CHANGES("/v1/runs/{run}/resume", "resumeRun", "Resume it", run_fields, resume),
    CHANGES("/v1/runs/{run}/cancel", "cancelRun", "End it for good; what it stored stays", run_fields,
            cancel),
    CHANGES("/v1/runs/{run}/retry", "retryRun",
            "Let its failed partitions, or its failed consolidation, try again", run_fields, retry),
    CHANGES("/v1/runs/{run}/partitions/{name}/retry", "retryPartition",
            "Enqueue the next page of a partition again, in a new generation", part_fields, retry_part),
    CHANGES("/v1/runs/{run}/partitions/{name}/reset", "resetPartition",
            "Restart a partition, from an offset or a cursor", reset_fields, reset_part),
    {READS("/v1/statements", "listStatements"), .tag = "runs",
     .summary = "List the statements that runs use by name", COLUMNS(statement_columns), .run = statements},
    {ACTS(METHOD_PUT, "/v1/statements/{name}", "putStatement"), .tag = "runs",
     .summary = "Register a statement that stores the items of a page, or selects them",
     FIELDS(put_statement_fields), .shape = ANSWER_RECORD, COLUMNS(registered_columns), .run = put_statement},
    {ACTS(METHOD_DELETE, "/v1/statements/{name}", "deleteStatement"), .tag = "runs",
     .summary = "Remove a statement that no open run uses", FIELDS(statement_fields), .shape = ANSWER_EMPTY,
     .status = 204, .run = remove_statement},
};

const struct route_table run_routes = ROUTE_TABLE(routes);
