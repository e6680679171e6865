/* Starting a run from a document, or showing what would be started. */
#include "operations/runs/runs.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "operations/tables.h"
#include "work/run/start.h"

static const struct column begun_columns[] = {
    {COLUMN(INT, "run")}, {COLUMN(TEXT, "key")}, {COLUMN(TEXT, "answer")}, {COLUMN(INT, "plan_job")}};

pawl_status run_answer_begun(struct request *request, const struct run_begun *begun, pawl_error *err) {
    return REQUEST_RECORD(request, begun_columns, err, begun->run > 0 ? cell_int(begun->run) : cell_none(),
                          cell_text(begun->key),
                          cell_cstr(begun->again          ? "duplicate"
                                    : begun->plan_job > 0 ? "planning"
                                                          : "started"),
                          begun->plan_job > 0 ? cell_int(begun->plan_job) : cell_none());
}

/* What would be started. */
static pawl_status show_plan(struct request *request, const struct run_begin *in, pawl_error *err) {
    const struct run_doc *doc = in->doc;
    static const struct column columns[] = {{COLUMN(TEXT, "partition")}, {COLUMN(JSON, "value")}};
    struct run_parts parts = {0};
    struct run_check check = {
        .doc = doc, .params = in->params, .tools = in->tools, .wait = in->wait, .store = request->store};
    if (doc->planner != RUN_PLAN_TOOL) {
        TRY(run_doc_plan(request->arena, doc, &parts, err));
        check.parts = &parts;
    }
    TRY(run_check(&check, request->arena, err));
    if (doc->planner == RUN_PLAN_TOOL)
        return error_set(err, PAWL_CONFLICT, "run",
                         "the document is right; its partitions are planned by the tool %.*s when it starts",
                         STR_ARG(doc->plan_call.uses));
    request_list(request, columns, COLUMN_COUNT(columns));
    for (size_t i = 0; i < parts.count; i++) {
        AUTO_BUF(text, 0);
        tree_write(&text, parts.parts[i].value);
        struct cell cells[] = {cell_text(parts.parts[i].id), cell_text(buf_str(&text))};
        TRY(buf_status(&text, "run", err));
        request_row(request, cells);
    }
    return request_list_end(request, NULL, err);
}

pawl_status run_begin_from(struct request *request, struct run_begun *begun, pawl_error *err) {
    struct run_doc doc = {0};
    struct run_begin in = {.doc = &doc,
                           .params = request_value(request, "params").tree,
                           .key = request_text(request, "key"),
                           .traceparent = request_text(request, "traceparent")};
    pawl_str text;
    pawl_status status = request_agent(request, &in.agent, err);
    if (status == PAWL_OK)
        status = request_json(request, "document", &text, err);
    if (status == PAWL_OK)
        status = run_doc_parse(request->arena, text, false, &doc, err);
    /* A tool that is not there is told now, not by the first page: as far as the tools are known here. */
    if (status == PAWL_OK && request->front->tools_named(request->self))
        status = request->front->tools(request->self, &in.tools, err);
    in.wait = tools_wait(in.tools, NULL);
    if (status == PAWL_OK)
        status = request_dry(request) ? show_plan(request, &in, err)
                                      : run_begin(request->store, &in, request->arena, begun, err);
    tools_free(in.tools);
    return status;
}

static pawl_status run_start(struct request *request, pawl_error *err) {
    struct run_begun begun = {0};
    pawl_status status = run_begin_from(request, &begun, err);
    return status == PAWL_OK && !request_dry(request) ? run_answer_begun(request, &begun, err) : status;
}

static const struct field start_fields[] = {
    {FIELD(FIELD_OBJECT, IN_BODY, "document", "What docs/running-runs.md describes."), .required = true,
     .example =
         "{\"name\": \"catalogue\", \"partitions\": [\"a\", \"b\"], \"page\": {\"uses\": \"shop.page\"}}",
     .word = true, .file = true},
    {FIELD(FIELD_OBJECT, IN_BODY, "params", "Parameters instead of the document's.")},
    {TEXT_FIELD(IN_BODY, "key", PAWL_NAME_BYTES_MAX,
                "The key instead of the document's; a second run with it is not started.")},
    {TEXT_FIELD(IN_BODY, "traceparent", 100, "The W3C trace context, given to its jobs.")},
    FLAG_DRY_RUN,
    FLAG_WATCH,
    {DURATION_FIELD(IN_TERMINAL, "timeout_ms", 1, PAWL_HISTORY_MS_MAX, "How long to watch it.")}};

static const struct operation operations[] = {
    {OPERATION("run.start", "Start a run from a document"), POSTS("/v1/runs"), FIELDS(start_fields),
     RECORD(begun_columns), .run = run_start, .options = OPTION(TOOLS) | OPTION(TOOLS_TIMEOUT),
     .database = DATABASE_MAKE,
     .details = "The document (docs/running-runs.md) is JSON, or YAML when its name ends in .yaml or .yml. "
                "With --tools its tools are checked first. --dry-run checks it and shows its partitions. "
                "With --watch it is followed as pawl run show --watch does. When a tool plans the "
                "partitions, a job asks it first, and the run is found by its key when that is done.",
     .example = "pawl run start catalogue.yaml --tools tools.json --watch\n"
                "pawl run start catalogue.yaml --key catalogue-2026-01-02",
     .empty = "no partitions"},
};

const struct operation_table run_start_operations = OPERATION_TABLE(operations);
