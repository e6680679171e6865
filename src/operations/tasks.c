/* Operations on tasks and their pipelines. */
#include "operations/tasks.h"

#include <string.h>

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
    TRY(request->store->ops->jobs->tasks(request->store, (pawl_str){NULL, 0}, request_after(request), limit,
                                         request->arena, &found, err));
    const char *next = found.count == (size_t)limit ? found.tasks[found.count - 1].name.ptr : NULL;
    return request_rows(request, ROWS_OF(task, found.tasks, found.count), next, err);
}

pawl_status task_find(struct request *request, pawl_str name, struct task *task, pawl_error *err) {
    struct task_list found = {.count = 0};
    TRY(request->store->ops->jobs->tasks(request->store, name, (pawl_str){NULL, 0}, 1, request->arena, &found,
                                         err));
    if (found.count == 0)
        return request_not_found("task", "task", name, err);
    *task = found.tasks[0];
    return PAWL_OK;
}

pawl_status task_owned(struct request *request, pawl_str name, pawl_error *err) {
    struct task_list found = {.count = 0};
    pawl_str self = request->front->agent != NULL ? request->front->agent(request->self)
                                                  : (pawl_str){NULL, 0};
    if (str_absent(self))
        return PAWL_OK;
    pawl_status status = request->store->ops->jobs->tasks(request->store, name, (pawl_str){NULL, 0}, 1,
                                                          request->arena, &found, err);
    if (status != PAWL_OK || found.count == 0 || str_equal(found.tasks[0].agent, self))
        return status;
    return error_set(
        err, PAWL_CONFLICT, "task",
        "refused: the task '%.*s' is not of the agent '%.*s', which may change and schedule only "
        "its own; choose another name",
        STR_ARG(name), STR_ARG(self));
}

static pawl_status task_show(struct request *request, pawl_error *err) {
    struct task task = {0};
    TRY(task_find(request, request_text(request, "name"), &task, err));
    return request_shown(request, task_columns, TASK_COLUMNS, &task, err);
}

static pawl_status store_refused(const struct request *request, const struct task *task,
                                 const struct put_answer *answer, pawl_error *err) {
    switch (answer->answer) {
    case ANSWER_APPLIED:
        return PAWL_OK;
    case ANSWER_NOT_FOUND:
        return error_set(err, PAWL_NOT_FOUND, "task", "there is no agent '%.*s'; make it with %s",
                         STR_ARG(task->agent), request_see(request, "agent.set"));
    case ANSWER_REFUSED:
        return error_set(err, PAWL_CONFLICT, "task", "refused: the agent '%.*s' lacks the scope '%.*s'",
                         STR_ARG(task->agent), STR_ARG(answer->missing));
    default:
        return error_set(err, PAWL_CONFLICT, "task", "the task was changed by someone else in the meantime");
    }
}

static pawl_status task_store(struct request *request, struct task *task, pawl_str document,
                              pawl_error *err) {
    struct put_answer answer = {0};
    task->type = STR(PIPELINE_JOB_TYPE);
    task->flags = JOB_AUDIT | JOB_EVENTS;
    task->spec = str_from(arena_printf(request->arena, "{\"pipeline\":%.*s}", STR_ARG(document)));
    if (str_absent(task->spec))
        return error_set(err, PAWL_NO_MEMORY, "task", "no memory for the task");
    TRY(request->store->ops->jobs->task_put(request->store, task, request->arena, &answer, err));
    return store_refused(request, task, &answer, err);
}

pawl_status task_enqueue(struct request *request, pawl_str task, pawl_str params, pawl_error *err) {
    struct job_new job = {.task = task, .payload = params};
    struct jobs_enqueue in = {.jobs = &job, .count = 1};
    struct enqueue_result out = {0};
    struct cell cells[ENQUEUED_COLUMNS];
    TRY(request_agent(request, &job.agent, err));
    TRY(request->front->key(request->self, 0, &in.request, err));
    TRY(pipeline_task_check(request->store, task, params, request->arena, err));
    TRY(request->store->ops->jobs->enqueue(request->store, &in, request->arena, &out, err));
    TRY(enqueue_refused(request, task, out.answers[0], err));
    enqueued_cells(out.ids[0], out.answers[0], cells);
    return request_record(request, enqueued_columns, ENQUEUED_COLUMNS, cells, err);
}

static pawl_status task_run(struct request *request, pawl_error *err) {
    pawl_str params;
    TRY(request_json(request, "params", &params, err));
    return task_enqueue(request, request_text(request, "name"), params, err);
}

/* ---- With its schedules */

static pawl_status task_with_schedules(struct request *request, struct task *task,
                                       struct job_schedule_list *schedules, pawl_error *err) {
    TRY(task_find(request, request_text(request, "name"), task, err));
    struct schedule_filter filter = {.task = task->name, .limit = PAWL_LIST_MAX};
    return request->store->ops->jobs->schedules(request->store, &filter, request->arena, schedules, err);
}

static const struct column deleted_columns[] = {{COLUMN(TEXT, "name")}, {COLUMN(TEXT, "answer")}};
static const struct column paused_columns[] = {{COLUMN(TEXT, "schedule")}, {COLUMN(BOOL, "paused")}};

static pawl_status task_remove(struct request *request, pawl_error *err) {
    struct task task = {0};
    struct job_schedule_list found = {0};
    const struct store_jobs_ops *ops = request->store->ops->jobs;
    TRY(task_with_schedules(request, &task, &found, err));
    TRY(task_owned(request, task.name, err));
    for (size_t i = 0; i < found.count; i++)
        TRY(ops->schedule_remove(request->store, found.schedules[i].name, err));
    TRY(ops->task_remove(request->store, task.name, err));
    return REQUEST_RECORD(request, deleted_columns, err, cell_text(task.name), cell_cstr("deleted"));
}

/* Its schedules stop or go on; a schedule that goes on does not make up for the pause. */
static pawl_status set_paused(struct request *request, bool paused, pawl_error *err) {
    struct task task = {0};
    struct job_schedule_list found = {0};
    TRY(task_with_schedules(request, &task, &found, err));
    request_list(request, paused_columns, COLUMN_COUNT(paused_columns));
    for (size_t i = 0; i < found.count; i++) {
        found.schedules[i].paused = paused;
        TRY(schedule_store(request, &found.schedules[i], err));
        request_row(request, (struct cell[]){cell_text(found.schedules[i].name), cell_bool(paused)});
    }
    return request_list_end(request, NULL, err);
}

static pawl_status task_pause(struct request *request, pawl_error *err) {
    return set_paused(request, true, err);
}
static pawl_status task_resume(struct request *request, pawl_error *err) {
    return set_paused(request, false, err);
}

/* ---- Pipelines */

static const struct column pipeline_columns[] = {
    {COLUMN(TEXT, "step")},           {COLUMN(TEXT, "uses")},    {COLUMN(JSON, "needs")},
    {COLUMN(DURATION, "timeout")},    {COLUMN(INT, "attempts")}, {COLUMN(BOOL, "foreach"), .drop = 1},
    {COLUMN(TEXT, "if"), .cut = true}};

/* The steps that a step waits for. */
static pawl_status needs_of(struct request *request, const struct pipeline *pipeline, size_t index,
                            pawl_str *text, pawl_error *err) {
    const struct pipeline_step *step = &pipeline->steps[index];
    AUTO_BUF(needs, 0);
    for (size_t i = 0; i < step->needs_count; i++) {
        buf_append_char(&needs, i == 0 ? '[' : ',');
        json_quote(&needs, pipeline->steps[step->needs[i].step].id);
    }
    buf_append_cstr(&needs, step->needs_count == 0 ? "[]" : "]");
    TRY(buf_status(&needs, "pipeline", err));
    return str_dup(request->arena, buf_str(&needs), text, err);
}

static pawl_status pipeline_steps(struct request *request, const struct pipeline *pipeline, pawl_error *err) {
    request_list(request, pipeline_columns, COLUMN_COUNT(pipeline_columns));
    for (size_t i = 0; i < pipeline->steps_count; i++) {
        const struct pipeline_step *step = &pipeline->steps[i];
        pawl_str needs = {NULL, 0};
        TRY(needs_of(request, pipeline, i, &needs, err));
        request_row(request, (struct cell[]){cell_text(step->id), cell_text(step->uses), cell_text(needs),
                                             cell_duration(step->timeout_ms), cell_int(step->attempts),
                                             cell_bool(step->foreach != NULL), cell_text(step->condition)});
    }
    return request_list_end(request, NULL, err);
}

static pawl_status task_pipeline(struct request *request, pawl_error *err) {
    struct task task = {0};
    const struct tree *spec = NULL, *document = NULL;
    const struct pipeline *pipeline = NULL;
    pawl_str text = {NULL, 0};
    TRY(task_find(request, request_text(request, "name"), &task, err));
    TRY(tree_parse(request->arena, task.spec, NULL, &spec, err));
    if ((document = tree_get_cstr(spec, "pipeline")) == NULL)
        return error_set(err, PAWL_NOT_FOUND, "task", "the task '%.*s' has no pipeline", STR_ARG(task.name));
    TRY(tree_text(request->arena, document, 0, &text, err));
    TRY(pipeline_parse(request->arena, text, PIPELINE_JSON, &pipeline, err));
    return pipeline_steps(request, pipeline, err);
}

enum { ENV_NAMES_MAX = 64 };

/* The variables that pipelines may use, as far as this front knows them. */
static size_t env_names(struct request *request, const char **names) {
    pawl_str rest = request->front->env(request->self);
    size_t count = 0;
    while (rest.len > 0 && count < ENV_NAMES_MAX) {
        const char *comma = memchr(rest.ptr, ',', rest.len);
        size_t len = comma != NULL ? (size_t)(comma - rest.ptr) : rest.len;
        pawl_str word = str_trim((pawl_str){rest.ptr, len});
        names[count] = arena_copy(request->arena, word.ptr, word.len);
        count += names[count] != NULL && word.len > 0;
        size_t used = comma != NULL ? len + 1 : len;
        rest = (pawl_str){rest.ptr + used, rest.len - used};
    }
    return count;
}

pawl_status pipeline_checked(struct request *request, bool params_needed, const struct pipeline **pipeline,
                             pawl_str *document, pawl_str *scopes, pawl_error *err) {
    const char *names[ENV_NAMES_MAX];
    struct tools *tools = NULL;
    const struct tree *params = request_value(request, "params").tree;
    pawl_status status = request_json(request, "pipeline", document, err);
    if (status == PAWL_OK)
        status = pipeline_parse(request->arena, *document, PIPELINE_JSON, pipeline, err);
    if (status == PAWL_OK)
        status = tree_text(request->arena, (*pipeline)->document, 0, document, err);
    if (status == PAWL_OK)
        status = request->front->tools(request->self, &tools, err);
    if (status != PAWL_OK)
        return status;
    bool known = request->front->env != NULL;
    struct pipeline_check_in check = {.tools = tools,
                                      .pipeline = *pipeline,
                                      .params = params == NULL && params_needed ? &tree_empty : params,
                                      .env = names,
                                      .env_count = known ? env_names(request, names) : 0,
                                      .env_any = !known,
                                      .wait = tools_wait(tools, NULL)};
    status = pipeline_job_check(&check, request->arena, scopes, err);
    tools_free(tools);
    return status;
}

static const struct column checked_columns[] = {
    {COLUMN(BOOL, "ok")}, {COLUMN(INT, "steps")}, {COLUMN(JSON, "scopes")}};

static pawl_status check_pipeline(struct request *request, pawl_error *err) {
    const struct pipeline *pipeline = NULL;
    pawl_str document, scopes;
    TRY(pipeline_checked(request, false, &pipeline, &document, &scopes, err));
    return REQUEST_RECORD(request, checked_columns, err, cell_bool(true),
                          cell_int((int64_t)pipeline->steps_count), cell_text(scopes));
}

static pawl_status show_pipeline(struct request *request, pawl_error *err) {
    const struct pipeline *pipeline = NULL;
    pawl_str document, scopes;
    TRY(pipeline_checked(request, false, &pipeline, &document, &scopes, err));
    return pipeline_steps(request, pipeline, err);
}

/* With a rule it gets a schedule of the same name. */
static pawl_status task_create(struct request *request, pawl_error *err) {
    struct task task = {.name = request_text(request, "name"),
                        .queue = request_text(request, "queue"),
                        .key = request_text(request, "key"),
                        .priority = (int)request_number(request, "priority", 0),
                        .max_attempts = (int)request_number(request, "max_attempts", 0),
                        .timeout_ms = request_number(request, "timeout_ms", 0),
                        .version = request_number(request, "expected_version", 0)};
    struct job_schedule schedule = {0};
    const struct pipeline *pipeline = NULL;
    pawl_str document = {NULL, 0};
    bool scheduled = false;
    TRY(schedule_given(request, &schedule, &scheduled, err));
    TRY(request_agent(request, &task.agent, err));
    TRY(task_owned(request, task.name, err));
    TRY(pipeline_checked(request, scheduled, &pipeline, &document, &task.scopes, err));
    TRY(request_json(request, "params", &task.params, err));
    TRY(task_store(request, &task, document, err));
    schedule.name = task.name;
    schedule.task = task.name;
    schedule.version = 0;
    if (scheduled)
        TRY(schedule_store(request, &schedule, err));
    /* As the store has it, with its version. */
    return task_show(request, err);
}

/* ---- The tables */

static const struct field name_fields[] = {FIELD_ROW_NAME("The task.")};
#define FIELD_ROW_PARAMS                                                                                     \
    { FIELD(FIELD_OBJECT, IN_BODY, "params", "Parameters, checked against its schema.") }
#define PIPELINE_EXAMPLE                                                                                     \
    "{\"steps\": [{\"id\": \"one\", \"uses\": \"pawl.send\", \"with\": {\"type\": \"a\"}}]}"
static const struct field pipeline_fields[] = {
    {FIELD(FIELD_OBJECT, IN_BODY, "pipeline", "The document (docs/pipelines.md)."), .required = true,
     .example = PIPELINE_EXAMPLE, .word = true, .file = true},
    FIELD_ROW_PARAMS};
static const struct field create_fields[] = {
    FIELD_ROW_NAME("The task."),
    {FIELD(FIELD_OBJECT, IN_BODY, "pipeline", "The document (docs/pipelines.md)."), .required = true,
     .example = PIPELINE_EXAMPLE, .file = true},
    FIELD_ROW_PARAMS,
    {TEXT_FIELD(IN_BODY, "agent", PAWL_NAME_BYTES_MAX,
                "The agent whose scopes decide which tools it may use.")},
    {TEXT_FIELD(IN_BODY, "queue", PAWL_NAME_BYTES_MAX, "The queue of its jobs.")},
    {TEXT_FIELD(IN_BODY, "key", PAWL_NAME_BYTES_MAX, "The key whose limits apply to its jobs.")},
    {INT_FIELD(IN_BODY, "priority", -PAWL_JOB_PRIORITY_MAX, PAWL_JOB_PRIORITY_MAX,
               "Higher runs first; one point counts as much as a minute of waiting.")},
    {INT_FIELD(IN_BODY, "max_attempts", 1, PAWL_ATTEMPTS_MAX, "Attempts before a job counts as dead.")},
    {DURATION_FIELD(IN_BODY, "timeout_ms", 1, PAWL_LEASE_MS_MAX, "The time limit of one execution.")},
    {INT_FIELD(IN_BODY, "expected_version", 1, 0, "Refuse unless the task has this version.")},
    SCHEDULE_RULE_FIELDS(IN_BODY),
    SCHEDULE_POLICY_FIELDS};
static const struct field run_fields[] = {
    FIELD_ROW_NAME("The task."),
    {FIELD(FIELD_OBJECT, IN_BODY, "params", "Payload of the job; the task's by default.")}};

#define TOOL_OPTIONS (OPTION(TOOLS) | OPTION(TOOLS_TIMEOUT) | OPTION(PIPELINE_ENV))

static const struct operation operations[] = {
    {OPERATION("task.list", "List tasks"), READS("/v1/tasks"), .paged = PAGED, COLUMNS(task_columns),
     .run = task_list, .empty = "no tasks"},
    {OPERATION("task.show", "Show a task with its pipeline"), READS("/v1/tasks/{name}"), FIELDS(name_fields),
     RECORD(task_columns), .run = task_show},
    {OPERATION("task.steps", "Show the steps of a task's pipeline and what each waits for"),
     READS("/v1/tasks/{name}/steps"), FIELDS(name_fields), COLUMNS(pipeline_columns), .run = task_pipeline,
     .empty = "no steps"},
    {OPERATION("task.create", "Create a task, or a new version of one: a pipeline, and when it runs"),
     PUTS("/v1/tasks/{name}"), FIELDS(create_fields), RECORD(task_columns), .run = task_create,
     .options = TOOL_OPTIONS, .database = DATABASE_MAKE,
     .details =
         "With --cron, --every or --at it gets a schedule of the same name. A task of an agent may use only "
         "tools whose scopes the agent has: that is checked here, when a job is enqueued, and when it runs.",
     .example = "pawl task create nightly --pipeline report.yaml --cron '0 3 * * *' --zone Europe/Berlin "
                "--tools tools.json"},
    {OPERATION("task.run", "Enqueue a job of a task now"), POSTS("/v1/tasks/{name}/run"), FIELDS(run_fields),
     RECORD(enqueued_columns), .run = task_run},
    {OPERATION("task.pause", "Pause the schedules of a task"), POSTS("/v1/tasks/{name}/pause"),
     FIELDS(name_fields), COLUMNS(paused_columns), .run = task_pause, .details = "Existing jobs continue.",
     .empty = "the task has no schedule"},
    {OPERATION("task.resume", "Resume the schedules of a task"), POSTS("/v1/tasks/{name}/resume"),
     FIELDS(name_fields), COLUMNS(paused_columns), .run = task_resume,
     .details = "Runs that fell into the pause are not made up for.", .empty = "the task has no schedule"},
    {OPERATION("task.delete", "Delete a task with its schedules; its jobs and executions stay"),
     DELETES("/v1/tasks/{name}"), FIELDS(name_fields), RECORD(deleted_columns), .run = task_remove},
};

static const struct operation pipelines[] = {
    {OPERATION("pipeline.check", "Check a pipeline: its form, its tools, their arguments"),
     EXAMINES(METHOD_POST, "/v1/pipelines/check"), FIELDS(pipeline_fields), RECORD(checked_columns),
     .run = check_pipeline, .options = TOOL_OPTIONS, .database = DATABASE_NONE,
     .details = "A file that ends in .yaml or .yml is YAML, any other is JSON. With --params the parameters "
                "are checked as well, and everything that depends on them. Nothing is stored.",
     .example = "pawl pipeline check report.yaml --params '{\"day\":\"2026-01-02\"}' --tools tools.json"},
    {OPERATION("pipeline.show", "Show the steps of a pipeline and what each waits for"),
     EXAMINES(METHOD_POST, "/v1/pipelines/show"), FIELDS(pipeline_fields), COLUMNS(pipeline_columns),
     .run = show_pipeline, .options = TOOL_OPTIONS, .database = DATABASE_NONE, .empty = "no steps"},
};

const struct operation_table task_operations = OPERATION_TABLE(operations);
const struct operation_table pipeline_operations = OPERATION_TABLE(pipelines);
