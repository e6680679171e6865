/* Operations on tasks and their pipelines. */
#include "operations/tasks.h"

#include "base/error.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "handler/tools/tools.h"
#include "operations/jobs.h"
#include "operations/tables.h"
#include "view/work.h"
#include "work/pipeline/job.h"
#include "work/pipeline/run.h"

static pawl_status task_list(struct request *request, pawl_error *err) {
    struct task_list found = {.count = 0};
    int limit = request_limit(request);
    pawl_status status = request->store->ops->jobs->tasks(
        request->store, (pawl_str){NULL, 0}, request_after(request), limit, request->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    const char *next = found.count == (size_t)limit ? found.tasks[found.count - 1].name.ptr : NULL;
    return request_rows(request, ROWS_OF(task, found.tasks, found.count), next, err);
}

pawl_status task_find(struct request *request, pawl_str name, struct task *task, pawl_error *err) {
    struct task_list found = {.count = 0};
    pawl_status status = request->store->ops->jobs->tasks(request->store, name, (pawl_str){NULL, 0}, 1,
                                                          request->arena, &found, err);
    if (status == PAWL_OK && found.count == 0)
        status = request_not_found("task", "task", name, err);
    if (status == PAWL_OK)
        *task = found.tasks[0];
    return status;
}

pawl_status task_show(struct request *request, pawl_error *err) {
    struct task task;
    pawl_status status = task_find(request, request_text(request, "name"), &task, err);
    return status == PAWL_OK ? request_shown(request, task_columns, TASK_COLUMNS, &task, err) : status;
}

static pawl_status store_refused(const struct request *request, const struct task *task,
                                 const struct put_answer *answer, pawl_error *err) {
    switch (answer->answer) {
    case ANSWER_APPLIED:
        return PAWL_OK;
    case ANSWER_NOT_FOUND:
        return error_set(err, PAWL_NOT_FOUND, "task", "there is no agent '%.*s'%s", STR_ARG(task->agent),
                         request_see(request, "; make it with pawl agent set", ""));
    case ANSWER_REFUSED:
        return error_set(err, PAWL_CONFLICT, "task", "refused: the agent '%.*s' lacks the scope '%.*s'",
                         STR_ARG(task->agent), STR_ARG(answer->missing));
    default:
        return error_set(err, PAWL_CONFLICT, "task", "the task was changed by someone else in the meantime");
    }
}

pawl_status task_store(struct request *request, struct task *task, pawl_str document, pawl_error *err) {
    struct put_answer answer = {0};
    task->type = STR(PIPELINE_JOB_TYPE);
    task->flags = JOB_AUDIT | JOB_EVENTS;
    task->spec = str_from(arena_printf(request->arena, "{\"pipeline\":%.*s}", STR_ARG(document)));
    if (str_absent(task->spec))
        return error_set(err, PAWL_NO_MEMORY, "task", "no memory for the task");
    pawl_status status =
        request->store->ops->jobs->task_put(request->store, task, request->arena, &answer, err);
    return status == PAWL_OK ? store_refused(request, task, &answer, err) : status;
}

pawl_status task_enqueue(struct request *request, pawl_str task, pawl_str params, pawl_error *err) {
    struct job_new job = {.task = task, .payload = params};
    struct jobs_enqueue in = {.jobs = &job, .count = 1};
    struct enqueue_result out = {0};
    struct cell cells[ENQUEUED_COLUMNS];
    pawl_status status = request->front->key(request->self, 0, &in.request, err);
    if (status == PAWL_OK)
        status = pipeline_task_check(request->store, task, params, request->arena, err);
    if (status == PAWL_OK)
        status = request->store->ops->jobs->enqueue(request->store, &in, request->arena, &out, err);
    if (status == PAWL_OK)
        status = enqueue_refused(request, task, out.answers[0], err);
    if (status != PAWL_OK)
        return status;
    enqueued_cells(out.ids[0], out.answers[0], cells);
    return request_record(request, enqueued_columns, ENQUEUED_COLUMNS, cells, err);
}

static pawl_status task_run(struct request *request, pawl_error *err) {
    pawl_str params;
    pawl_status status = request_content(request, "params", false, &params, err);
    return status == PAWL_OK ? task_enqueue(request, request_text(request, "name"), params, err) : status;
}

static pawl_status task_remove(struct request *request, pawl_error *err) {
    return request->store->ops->jobs->task_remove(request->store, request_text(request, "name"), err);
}

/* ---- Pipelines */

#define PIPELINE_COLUMNS(needs)                                                                              \
    {                                                                                                        \
        {COLUMN(TEXT, "step")}, {COLUMN(TEXT, "uses")}, {COLUMN(needs, "needs")},                            \
            {COLUMN(DURATION, "timeout")}, {COLUMN(INT, "attempts")}, {COLUMN(BOOL, "foreach"), .drop = 1},  \
        {                                                                                                    \
            COLUMN(TEXT, "if"), .cut = true                                                                  \
        }                                                                                                    \
    }
static const struct column pipeline_columns[] = PIPELINE_COLUMNS(JSON);
static const struct column command_columns[] = PIPELINE_COLUMNS(TEXT);

/* The steps that a step waits for: an array over HTTP, words on the command line. */
static pawl_status needs_of(struct request *request, const struct pipeline *pipeline, size_t index,
                            pawl_str *text, pawl_error *err) {
    const struct pipeline_step *step = &pipeline->steps[index];
    bool command = request_is_command(request);
    struct buf needs;
    buf_init(&needs, 0);
    buf_append_cstr(&needs, command ? "" : "[");
    for (size_t i = 0; i < step->needs_count; i++) {
        pawl_str id = pipeline->steps[step->needs[i].step].id;
        buf_append_cstr(&needs, i == 0 ? "" : command ? " " : ",");
        if (command)
            buf_append_str(&needs, id);
        else
            json_quote(&needs, id);
    }
    buf_append_cstr(&needs, command ? "" : "]");
    pawl_status status = buf_status(&needs, "pipeline", err);
    if (status == PAWL_OK && needs.len > 0)
        status = str_dup(request->arena, buf_str(&needs), text, err);
    buf_free(&needs);
    return status;
}

pawl_status pipeline_steps(struct request *request, const struct pipeline *pipeline, pawl_error *err) {
    pawl_status status = PAWL_OK;
    request_list(request, request_is_command(request) ? command_columns : pipeline_columns,
                 COLUMN_COUNT(pipeline_columns));
    for (size_t i = 0; status == PAWL_OK && i < pipeline->steps_count; i++) {
        const struct pipeline_step *step = &pipeline->steps[i];
        pawl_str needs = {NULL, 0};
        status = needs_of(request, pipeline, i, &needs, err);
        if (status == PAWL_OK)
            request_row(request,
                        (struct cell[]){cell_text(step->id), cell_text(step->uses), cell_text(needs),
                                        cell_duration(step->timeout_ms), cell_int(step->attempts),
                                        cell_bool(step->foreach != NULL), cell_text(step->condition)});
    }
    return status == PAWL_OK ? request_list_end(request, NULL, err) : status;
}

static pawl_status task_pipeline(struct request *request, pawl_error *err) {
    struct task task;
    const struct tree *spec = NULL, *document = NULL;
    const struct pipeline *pipeline = NULL;
    pawl_str text = {NULL, 0};
    pawl_status status = task_find(request, request_text(request, "name"), &task, err);
    if (status == PAWL_OK)
        status = tree_parse(request->arena, task.spec, NULL, &spec, err);
    if (status == PAWL_OK && (document = tree_get_cstr(spec, "pipeline")) == NULL)
        status =
            error_set(err, PAWL_NOT_FOUND, "task", "the task '%.*s' has no pipeline", STR_ARG(task.name));
    if (status == PAWL_OK)
        status = tree_text(request->arena, document, 0, &text, err);
    if (status == PAWL_OK)
        status = pipeline_parse(request->arena, text, PIPELINE_JSON, &pipeline, err);
    return status == PAWL_OK ? pipeline_steps(request, pipeline, err) : status;
}

/* Parses the input `pipeline`, and checks it against the available tools and the parameters. */
static pawl_status check_pipeline(struct request *request, const struct pipeline **pipeline,
                                  pawl_str *document, pawl_str *scopes, pawl_error *err) {
    struct tools *tools = NULL;
    pawl_status status = request_json(request, "pipeline", document, err);
    if (status == PAWL_OK)
        status = pipeline_parse(request->arena, *document, PIPELINE_JSON, pipeline, err);
    if (status == PAWL_OK)
        status = request->front->tools(request->self, &tools, err);
    if (status != PAWL_OK)
        return status;
    struct pipeline_check_in check = {.tools = tools,
                                      .pipeline = *pipeline,
                                      .params = request_value(request, "params").tree,
                                      .env_any = true,
                                      .wait = tools_wait(tools, NULL)};
    status = pipeline_job_check(&check, request->arena, scopes, err);
    tools_free(tools);
    return status;
}

static pawl_status pipeline_try(struct request *request, pawl_error *err) {
    const struct pipeline *pipeline = NULL;
    pawl_str document, scopes;
    pawl_status status = check_pipeline(request, &pipeline, &document, &scopes, err);
    return status == PAWL_OK ? pipeline_steps(request, pipeline, err) : status;
}

struct task task_from(const struct request *request) {
    return (struct task){.name = request_text(request, "name"),
                         .agent = request_text(request, "agent"),
                         .queue = request_text(request, "queue"),
                         .key = request_text(request, "key"),
                         .priority = (int)request_number(request, "priority", 0),
                         .max_attempts = (int)request_number(request, "max_attempts", 0),
                         .timeout_ms = request_number(request, "timeout_ms", 0),
                         .version = request_number(request, "version", 0)};
}

static pawl_status task_put(struct request *request, pawl_error *err) {
    struct task task = task_from(request);
    const struct pipeline *pipeline = NULL;
    pawl_str document = {NULL, 0};
    pawl_status status = check_pipeline(request, &pipeline, &document, &task.scopes, err);
    if (status == PAWL_OK)
        status = request_json(request, "params", &task.params, err);
    if (status == PAWL_OK)
        status = task_store(request, &task, document, err);
    return status == PAWL_OK ? task_show(request, err) : status;
}

/* ---- The table */

static const struct field page_fields[] = {FIELD_ROW_CURSOR, FIELD_ROW_LIMIT};
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
static const struct field run_fields[] = {
    FIELD_ROW_NAME("The task."),
    {FIELD(FIELD_OBJECT, IN_BODY, "params", "Payload of the job; the task's by default.")}};

static const struct operation operations[] = {
    {COMMAND("task list", "List tasks"), .alias = "task", .empty = "no tasks",
     READS("/v1/tasks", "listTasks", "tasks"), FIELDS(page_fields), COLUMNS(task_columns), .run = task_list},
    {COMMAND("task show", "Show a task with its pipeline"), .arguments = "NAME",
     READS("/v1/tasks/{name}", "readTask", "tasks"), FIELDS(name_fields), RECORD(task_columns),
     .run = task_show},
    {COMMAND("task run", "Enqueue a job of a task now"), .arguments = "NAME", .flags = FLAG(PARAMS),
     .writes = true, POSTS("/v1/tasks/{name}/run", "runTask", "tasks"), FIELDS(run_fields),
     RECORD(enqueued_columns), .run = task_run},
    {.summary = "Create or change a task; its pipeline is checked first",
     PUTS("/v1/tasks/{name}", "putTask", "tasks"),
     FIELDS(put_fields),
     RECORD(task_columns),
     .run = task_put},
    {.summary = "Delete a task that no schedule names; its jobs and executions stay",
     DELETES("/v1/tasks/{name}", "deleteTask", "tasks"),
     FIELDS(name_fields),
     .run = task_remove},
    {.summary = "The steps of its pipeline and what each waits for",
     READS("/v1/tasks/{name}/pipeline", "readPipeline", "pipelines"),
     FIELDS(name_fields),
     COLUMNS(pipeline_columns),
     .run = task_pipeline},
    {.summary = "Check a pipeline: its syntax, its tools, their arguments; nothing is stored",
     POSTS("/v1/pipelines/check", "checkPipeline", "pipelines"),
     .unaudited = true,
     FIELDS(check_fields),
     COLUMNS(pipeline_columns),
     .run = pipeline_try},
};

const struct operation_table task_operations = OPERATION_TABLE(operations);
