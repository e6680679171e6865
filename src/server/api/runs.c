/* Routes of runs: start, list with progress, partitions, items, pause, retry; statements. */

#include "operations/runs.h"
#include "base/str.h"
#include "operations/operations.h"
#include "server/api/fields.h"
#include "server/api/tooling.h"
#include "server/http/call.h"
#include "server/server.h"
#include "view/run.h"
#include "work/run/start.h"

static pawl_status find(struct call *call, struct run_row *run, int64_t *now_ms, pawl_error *err) {
    return run_view_find(call->store, call_text(call, "run"), call->arena, run, now_ms, err);
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

static pawl_status show(struct request *request, pawl_error *err) {
    struct run_row run;
    return run_show(request, &run, err);
}

static pawl_status put_statement(struct request *request, pawl_error *err) {
    return statement_store(request, request_text(request, "sql"), err);
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
                                                      "Only of the partition with this index, from 0.")},
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
                                                   .shape = ANSWER_RECORD, COLUMNS(run_answer_columns),      \
                                                   .operation = (function)                                   \
    }

static const struct route routes[] = {
    {READS("/v1/runs", "listRuns"), .tag = "runs", .summary = "List runs with their progress, newest first",
     FIELDS(list_fields), COLUMNS(run_columns), .operation = op_run_list},
    {ACTS(METHOD_POST, "/v1/runs", "startRun"), .tag = "runs", .summary = "Start a run from a document",
     FIELDS(start_fields), .shape = ANSWER_RECORD, COLUMNS(begun_columns), .run = start},
    {READS("/v1/runs/stuck", "listStuckPartitions"), .tag = "runs",
     .summary = "List the partitions of every run that show no progress", FIELDS(stuck_fields),
     COLUMNS(run_partition_columns), .operation = op_run_stuck},
    {READS("/v1/runs/{run}", "readRun"), .tag = "runs", .summary = "Show one run: progress, speed, time left",
     FIELDS(run_fields), .shape = ANSWER_RECORD, COLUMNS(run_columns), .operation = show},
    {READS("/v1/runs/{run}/partitions", "listRunPartitions"), .tag = "runs",
     .summary = "List its partitions with their progress and timings", FIELDS(partition_fields),
     COLUMNS(run_partition_columns), .operation = op_run_partitions},
    {READS("/v1/runs/{run}/items", "listRunItems"), .tag = "runs",
     .summary = "List the items of a run without a target, by key", FIELDS(item_fields),
     COLUMNS(run_item_columns), .run = items},
    CHANGES("/v1/runs/{run}/pause", "pauseRun", "Start no more of its pages; those in flight finish",
            run_fields, op_run_pause),
    CHANGES("/v1/runs/{run}/resume", "resumeRun", "Resume it", run_fields, op_run_resume),
    CHANGES("/v1/runs/{run}/cancel", "cancelRun", "End it for good; what it stored stays", run_fields,
            op_run_cancel),
    CHANGES("/v1/runs/{run}/retry", "retryRun", "Retry its failed partitions, or its failed consolidation",
            run_fields, op_run_retry),
    CHANGES("/v1/runs/{run}/partitions/{name}/retry", "retryPartition",
            "Enqueue the next page of a partition again, in a new generation", part_fields, op_run_retry),
    CHANGES("/v1/runs/{run}/partitions/{name}/reset", "resetPartition",
            "Restart a partition, from an offset or a cursor", reset_fields, op_run_reset),
    {READS("/v1/statements", "listStatements"), .tag = "runs",
     .summary = "List the statements that runs use by name", COLUMNS(statement_columns),
     .operation = op_statement_list},
    {ACTS(METHOD_PUT, "/v1/statements/{name}", "putStatement"), .tag = "runs",
     .summary = "Register a statement that stores the items of a page, or selects them",
     FIELDS(put_statement_fields), .shape = ANSWER_RECORD, COLUMNS(registered_columns),
     .operation = put_statement},
    {ACTS(METHOD_DELETE, "/v1/statements/{name}", "deleteStatement"), .tag = "runs",
     .summary = "Remove a statement that no open run uses", FIELDS(statement_fields), .shape = ANSWER_EMPTY,
     .status = 204, .operation = op_statement_remove},
};

const struct route_table run_routes = ROUTE_TABLE(routes);
