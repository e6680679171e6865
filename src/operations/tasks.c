/* Operations on tasks, agents and executions. */
#include "operations/tasks.h"

#include "base/error.h"
#include "base/str.h"
#include "operations/jobs.h"
#include "operations/operations.h"
#include "view/work.h"
#include "work/pipeline/job.h"
#include "work/pipeline/run.h"

pawl_status op_task_list(struct request *request, pawl_error *err) {
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

pawl_status op_task_show(struct request *request, pawl_error *err) {
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
    pawl_status status = request->front->key(request->self, &in.request, err);
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

/* ---- Agents */

pawl_status op_agent_list(struct request *request, pawl_error *err) {
    struct agent_list found = {.count = 0};
    pawl_status status = request->store->ops->jobs->agents(request->store, request->arena, &found, err);
    return status == PAWL_OK ? request_rows(request, ROWS_OF(agent, found.agents, found.count), NULL, err)
                             : status;
}

pawl_status op_agent_refusals(struct request *request, pawl_error *err) {
    struct refusal_list found = {.count = 0};
    pawl_status status = request->store->ops->jobs->refusals(request->store, request_limit(request),
                                                             request->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    REQUEST_CELLS(request, refusal, found.refusals, found.count);
    return request_list_end(request, NULL, err);
}

/* ---- Executions */

pawl_status op_execution_list(struct request *request, pawl_error *err) {
    struct run_filter filter = {.task = request_text(request, "task"),
                                .job_id = request_number(request, "job_id", 0),
                                .outcome = request_choice(request, "outcome"),
                                .since_ms = request_number(request, "since_ms", 0),
                                .before_id = request_after_number(request),
                                .limit = request_limit(request)};
    struct task_run_list found = {.count = 0};
    pawl_status status =
        request->store->ops->jobs->runs(request->store, &filter, request->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    REQUEST_CELLS(request, execution, found.runs, found.count);
    return request_list_end_number(request, found.next_id, err);
}

pawl_status op_execution_verify(struct request *request, pawl_error *err) {
    struct audit_report report = {0};
    struct cell cells[REPORT_COLUMNS];
    pawl_str expect = request_text(request, "head");
    pawl_status status =
        request->store->ops->jobs->audit_verify(request->store, expect, request->arena, &report, err);
    if (status != PAWL_OK)
        return status;
    if (!report.sound)
        request->front->verdict(request->self, PAWL_CONFLICT);
    report_cells(&report, expect, cells);
    return request_record(request, report_columns, REPORT_COLUMNS, cells, err);
}
