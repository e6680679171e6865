/* Routes of tasks, pipelines, agents and executions. */
#include <inttypes.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "handler/tools/tools.h"
#include "operations/operations.h"
#include "operations/tasks.h"
#include "server/api/fields.h"
#include "server/api/tooling.h"
#include "server/http/call.h"
#include "server/server.h"
#include "view/output/row.h"
#include "view/work.h"
#include "work/pipeline/job.h"

/* ---- Pipelines */

static const struct column pipeline_columns[] = {{COLUMN(TEXT, "step")},    {COLUMN(TEXT, "uses")},
                                                 {COLUMN(JSON, "needs")},   {COLUMN(DURATION, "timeout")},
                                                 {COLUMN(INT, "attempts")}, {COLUMN(BOOL, "foreach")},
                                                 {COLUMN(TEXT, "if")}};

/* Parses a pipeline document, without checking its tools. */
static pawl_status parse(struct call *call, pawl_str text, const struct pipeline **pipeline,
                         pawl_error *err) {
    return pipeline_parse(call->arena, text, PIPELINE_JSON, pipeline, err);
}

static pawl_status step_row(struct call *call, const struct pipeline *pipeline, size_t index,
                            pawl_error *err) {
    const struct pipeline_step *step = &pipeline->steps[index];
    struct buf needs;
    struct json_writer json;
    pawl_str text = {NULL, 0};
    buf_init(&needs, 0);
    json_writer_init(&json, &needs);
    json_begin_array(&json);
    for (size_t i = 0; i < step->needs_count; i++)
        json_str(&json, pipeline->steps[step->needs[i].step].id);
    json_end_array(&json);
    pawl_status status = buf_status(&needs, "pipeline", err);
    if (status == PAWL_OK)
        status = str_dup(call->arena, buf_str(&needs), &text, err);
    buf_free(&needs);
    if (status == PAWL_OK)
        call_row(call, (struct cell[]){cell_text(step->id), cell_text(step->uses), cell_text(text),
                                       cell_duration(step->timeout_ms), cell_int(step->attempts),
                                       cell_bool(step->foreach != NULL), cell_text(step->condition)});
    return status;
}

static pawl_status steps_answer(struct call *call, const struct pipeline *pipeline, pawl_error *err) {
    pawl_status status = PAWL_OK;
    call_list(call);
    for (size_t i = 0; status == PAWL_OK && i < pipeline->steps_count; i++)
        status = step_row(call, pipeline, i, err);
    return status == PAWL_OK ? call_list_end(call, NULL, err) : status;
}

static pawl_status show_pipeline(struct call *call, pawl_error *err) {
    struct task task;
    struct request request = http_request(call);
    const struct tree *spec = NULL, *document = NULL;
    const struct pipeline *pipeline = NULL;
    struct buf text;
    buf_init(&text, 0);
    pawl_status status = task_find(&request, call_text(call, "name"), &task, err);
    if (status == PAWL_OK)
        status = tree_parse(call->arena, task.spec, NULL, &spec, err);
    if (status == PAWL_OK && (document = tree_get_cstr(spec, "pipeline")) == NULL)
        status =
            error_set(err, PAWL_NOT_FOUND, "task", "the task '%.*s' has no pipeline", STR_ARG(task.name));
    if (status == PAWL_OK) {
        tree_write(&text, document);
        status = buf_status(&text, "task", err);
    }
    if (status == PAWL_OK)
        status = parse(call, buf_str(&text), &pipeline, err);
    if (status == PAWL_OK)
        status = steps_answer(call, pipeline, err);
    buf_free(&text);
    return status;
}

/* Parses the field `pipeline`, and checks it against the available tools and the parameters. */
static pawl_status check_pipeline(struct call *call, const struct pipeline **pipeline, pawl_str *document,
                                  pawl_str *scopes, pawl_error *err) {
    struct tools *tools = NULL;
    pawl_status status = call_json(call, "pipeline", document, err);
    if (status == PAWL_OK)
        status = parse(call, *document, pipeline, err);
    if (status == PAWL_OK)
        status = tooling_open(call->server, &tools, err);
    if (status != PAWL_OK)
        return status;
    struct pipeline_check_in check = {.tools = tools,
                                      .pipeline = *pipeline,
                                      .params = call_value(call, "params")->tree,
                                      .env_any = true,
                                      .wait = tools_wait(tools, NULL)};
    status = pipeline_job_check(&check, call->arena, scopes, err);
    tools_free(tools);
    return status;
}

static pawl_status try_pipeline(struct call *call, pawl_error *err) {
    const struct pipeline *pipeline = NULL;
    pawl_str document, scopes;
    pawl_status status = check_pipeline(call, &pipeline, &document, &scopes, err);
    return status == PAWL_OK ? steps_answer(call, pipeline, err) : status;
}

/* ---- Changing */

static pawl_status put(struct call *call, pawl_error *err) {
    struct task task = {.name = call_text(call, "name"),
                        .agent = call_text(call, "agent"),
                        .queue = call_text(call, "queue"),
                        .key = call_text(call, "key"),
                        .priority = (int)call_int(call, "priority", 0),
                        .max_attempts = (int)call_int(call, "max_attempts", 0),
                        .timeout_ms = call_int(call, "timeout_ms", 0),
                        .version = call_int(call, "version", 0)};
    struct request request = http_request(call);
    const struct pipeline *pipeline = NULL;
    pawl_str document = {NULL, 0};
    pawl_status status = check_pipeline(call, &pipeline, &document, &task.scopes, err);
    if (status == PAWL_OK)
        status = call_json(call, "params", &task.params, err);
    if (status == PAWL_OK)
        status = task_store(&request, &task, document, err);
    return status == PAWL_OK ? op_task_show(&request, err) : status;
}

static pawl_status remove_task(struct call *call, pawl_error *err) {
    return call->store->ops->jobs->task_remove(call->store, call_text(call, "name"), err);
}

/* ---- Agents */

static pawl_status put_agent(struct call *call, pawl_error *err) {
    struct agent agent = {.name = call_text(call, "name"), .disabled = call_bool(call, "disabled")};
    struct cell cells[AGENT_COLUMNS];
    pawl_status status = call_json(call, "scopes", &agent.scopes, err);
    if (status == PAWL_OK && str_absent(agent.scopes))
        agent.scopes = STR("[]");
    if (status == PAWL_OK)
        status = call->store->ops->jobs->agent_put(call->store, &agent, err);
    if (status == PAWL_OK)
        status = call->store->ops->core.clock_read(call->store, &agent.updated_ms, err);
    if (status != PAWL_OK)
        return status;
    row_cells(agent_columns, AGENT_COLUMNS, &agent, NULL, cells);
    call_record(call, cells);
    return PAWL_OK;
}

/* ---- Executions */

static const struct column head_columns[] = {
    {COLUMN(INT, "number")}, {COLUMN(TIME, "made_at")}, {COLUMN(TEXT, "hash")}};

static pawl_status head(struct call *call, pawl_error *err) {
    struct audit_head last;
    pawl_status status = call->store->ops->jobs->audit_head(call->store, &last, err);
    if (status == PAWL_OK)
        call_record(call, (struct cell[]){cell_int(last.number), cell_time(last.made_ms),
                                          cell_text(str_from(last.number > 0 ? last.hash : NULL))});
    return status;
}

/* ---- Fields and routes */

static const struct field page_fields[] = {FIELD_ROW_CURSOR, FIELD_ROW_LIMIT};
static const struct field limit_fields[] = {FIELD_ROW_LIMIT};
static const struct field name_fields[] = {FIELD_ROW_NAME("The task.")};
#define PIPELINE_FIELDS                                                                                      \
    {FIELD(FIELD_OBJECT, IN_BODY, "pipeline", "The document (docs/pipelines.md)."), .required = true}, {     \
        FIELD(FIELD_OBJECT, IN_BODY, "params", "Parameters, checked against its schema.")                    \
    }
static const struct field check_fields[] = {PIPELINE_FIELDS};
static const struct field put_fields[] = {
    FIELD_ROW_NAME("The task."),
    PIPELINE_FIELDS,
    {TEXT_FIELD(IN_BODY, "agent", PAWL_NAME_BYTES_MAX, "The agent whose scopes it needs.")},
    {TEXT_FIELD(IN_BODY, "queue", PAWL_NAME_BYTES_MAX, "Of its jobs.")},
    {TEXT_FIELD(IN_BODY, "key", PAWL_NAME_BYTES_MAX, "Of its jobs.")},
    {INT_FIELD(IN_BODY, "priority", -PAWL_JOB_PRIORITY_MAX, PAWL_JOB_PRIORITY_MAX, "Higher goes first.")},
    {INT_FIELD(IN_BODY, "max_attempts", 1, PAWL_ATTEMPTS_MAX, "Before a job counts as dead.")},
    {INT_FIELD(IN_BODY, "timeout_ms", 1, PAWL_LEASE_MS_MAX, "Of one execution.")},
    {INT_FIELD(IN_BODY, "version", 1, 0, "Refuse unless the task has this version.")}};
static const struct field agent_fields[] = {
    FIELD_ROW_NAME("The agent."),
    {FIELD(FIELD_TEXTS, IN_BODY, "scopes", "The scopes it has; may end in *."), .max = 256},
    {FIELD(FIELD_BOOL, IN_BODY, "disabled", "Remove all scopes.")}};
static const struct field verify_fields[] = {
    {TEXT_FIELD(IN_QUERY, "head", SHA256_TEXT_BYTES - 1, "The hash of an anchor that must still exist.")}};
static const struct field execution_fields[] = {
    {TEXT_FIELD(IN_QUERY, "task", PAWL_NAME_BYTES_MAX, "Only of this task.")},
    {INT_FIELD(IN_QUERY, "job_id", 1, 0, "Only of this job.")},
    {CHOICE_FIELD(IN_QUERY, "outcome", "succeeded|failed|dead|cancelled|lost", "Only with this outcome.")},
    {INT_FIELD(IN_QUERY, "since_ms", 1, 0, "Only those that finished at or after this time.")},
    FIELD_ROW_CURSOR,
    FIELD_ROW_LIMIT};

static const struct route routes[] = {
    {READS("/v1/tasks", "listTasks"), .tag = "tasks", .summary = "List tasks by name", FIELDS(page_fields),
     COLUMNS(task_columns), .operation = op_task_list},
    {READS("/v1/tasks/{name}", "readTask"), .tag = "tasks", .summary = "Show one task", FIELDS(name_fields),
     .shape = ANSWER_RECORD, COLUMNS(task_columns), .operation = op_task_show},
    {ACTS(METHOD_PUT, "/v1/tasks/{name}", "putTask"), .tag = "tasks",
     .summary = "Create or change a task; its pipeline is checked first", FIELDS(put_fields),
     .shape = ANSWER_RECORD, COLUMNS(task_columns), .run = put},
    {ACTS(METHOD_DELETE, "/v1/tasks/{name}", "deleteTask"), .tag = "tasks",
     .summary = "Delete a task that no schedule names; its jobs and executions stay", FIELDS(name_fields),
     .shape = ANSWER_EMPTY, .status = 204, .run = remove_task},
    {READS("/v1/tasks/{name}/pipeline", "readPipeline"), .tag = "pipelines",
     .summary = "The steps of its pipeline and what each waits for", FIELDS(name_fields),
     COLUMNS(pipeline_columns), .run = show_pipeline},
    {ACTS(METHOD_POST, "/v1/pipelines/check", "checkPipeline"), .tag = "pipelines",
     .summary = "Check a pipeline: its syntax, its tools, their arguments; nothing is stored",
     .unaudited = true, FIELDS(check_fields), COLUMNS(pipeline_columns), .run = try_pipeline},
    {READS("/v1/agents", "listAgents"), .tag = "agents", .summary = "List agents with their scopes",
     COLUMNS(agent_columns), .operation = op_agent_list},
    {ACTS(METHOD_PUT, "/v1/agents/{name}", "putAgent"), .tag = "agents",
     .summary = "Create an agent, or change its scopes", FIELDS(agent_fields), .shape = ANSWER_RECORD,
     COLUMNS(agent_columns), .run = put_agent},
    {READS("/v1/refusals", "listRefusals"), .tag = "agents",
     .summary = "What was refused because a scope was missing, newest first", FIELDS(limit_fields),
     COLUMNS(refusal_columns), .operation = op_agent_refusals},
    {READS("/v1/executions", "listExecutions"), .tag = "audit",
     .summary = "List executions of jobs, newest first", FIELDS(execution_fields), COLUMNS(execution_columns),
     .operation = op_execution_list},
    {ACTS(METHOD_GET, "/v1/executions/verify", "verifyExecutions"), .tag = "audit",
     .summary = "Recompute the hashes of the executions and report whether one was changed or removed",
     FIELDS(verify_fields), .shape = ANSWER_RECORD, COLUMNS(report_columns),
     .operation = op_execution_verify},
    {READS("/v1/executions/head", "headOfExecutions"), .tag = "audit",
     .summary = "The last anchor of the audit: one hash over everything executed until then",
     .shape = ANSWER_RECORD, COLUMNS(head_columns), .run = head},
};

const struct route_table task_routes = ROUTE_TABLE(routes);
