/* Tasks, agents and refusals on SQLite. */
#include "base/error.h"
#include "base/str.h"
#include "domain/authority/scope_list.h"
#include "store/sqlite/jobs/jobs.h"

static pawl_status jobs_scope_missing(struct operation *op, pawl_str agent, pawl_str scopes,
                                      pawl_str *missing) {
    *missing = (pawl_str){NULL, 0};
    if (str_absent(agent))
        return PAWL_OK;
    pawl_str held = {NULL, 0};
    bool disabled = false;
    struct statement s = statement_begin(op, SQLITE_Q_AGENT_FIND);
    bind_text(&s, agent);
    bool found = statement_next(&s);
    if (found) {
        held = column_copy(&s, 0, op->scratch);
        disabled = column_int(&s, 1) != 0;
    }
    pawl_status status = statement_end(&s);
    if (status != PAWL_OK)
        return status;
    if (!found || disabled) {
        *missing = str_from(arena_printf(op->scratch, "agent %.*s", STR_ARG(agent)));
        return str_absent(*missing) ? operation_no_memory(op) : PAWL_OK;
    }
    pawl_str lacking = {NULL, 0};
    if (!scope_list_covers(held, scopes, &lacking))
        *missing = lacking;
    return PAWL_OK;
}

pawl_status jobs_refuse(struct operation *op, pawl_str agent, pawl_str task, pawl_str missing,
                        int64_t job_id) {
    struct statement s = statement_begin(op, SQLITE_Q_REFUSAL_INSERT);
    bind_text(&s, agent);
    bind_text(&s, task);
    bind_text(&s, missing);
    bind_int(&s, job_id);
    bind_int(&s, op->now_ms);
    return statement_run(&s);
}

pawl_status jobs_task_missing(struct operation *op, const struct task *task, pawl_str agent,
                              pawl_str *missing) {
    if (str_absent(agent) || str_absent(task->agent) || str_equal(agent, task->agent))
        return jobs_scope_missing(op, str_absent(agent) ? task->agent : agent, task->scopes, missing);
    *missing = str_from(arena_printf(op->scratch, "agent %.*s", STR_ARG(task->agent)));
    return str_absent(*missing) ? operation_no_memory(op) : PAWL_OK;
}

pawl_status jobs_task_find(struct operation *op, pawl_str name, struct task *task, bool *found) {
    struct statement s = statement_begin(op, SQLITE_Q_TASK_FIND);
    bind_text(&s, name);
    return row_find(&s, &task_shape, op->scratch, task, found);
}

static pawl_status task_write(struct operation *op, const struct task *in, int64_t version) {
    struct task task = *in;
    task.version = version;
    task.updated_ms = op->now_ms;
    if (str_absent(task.scopes))
        task.scopes = STR("[]");
    struct statement s = statement_begin(op, SQLITE_Q_TASK_PUT);
    row_bind(&s, &task_shape, &task);
    return statement_run(&s);
}

static pawl_status agent_known(struct operation *op, pawl_str agent, bool *known) {
    *known = true;
    if (str_absent(agent))
        return PAWL_OK;
    struct statement s = statement_begin(op, SQLITE_Q_AGENT_FIND);
    bind_text(&s, agent);
    *known = statement_next(&s);
    return statement_end(&s);
}

static pawl_status task_put_in(struct operation *op, const struct task *in, struct put_answer *answer) {
    struct task old = {0};
    bool found = false, known = false;
    pawl_status status = agent_known(op, in->agent, &known);
    if (status == PAWL_OK)
        status = jobs_task_find(op, in->name, &old, &found);
    if (status != PAWL_OK)
        return status;
    *answer = (struct put_answer){ANSWER_APPLIED, found ? old.version : 0, {NULL, 0}};
    if (!known) {
        *answer = (struct put_answer){ANSWER_NOT_FOUND, 0, {NULL, 0}};
        return PAWL_OK;
    }
    if (in->version != 0 && in->version != answer->version) {
        answer->answer = ANSWER_CONFLICT;
        return PAWL_OK;
    }
    status = jobs_scope_missing(op, in->agent, in->scopes, &answer->missing);
    if (status != PAWL_OK)
        return status;
    if (!str_absent(answer->missing)) {
        answer->answer = ANSWER_REFUSED;
        return jobs_refuse(op, in->agent, in->name, answer->missing, 0);
    }
    return task_write(op, in, ++answer->version);
}

pawl_status sqlite_jobs_task_put(struct store *store, const struct task *in, struct arena *arena,
                                 struct put_answer *out, pawl_error *err) {
    struct operation op;
    struct put_answer answer;
    pawl_status status = check_task(in, err);
    if (!operation_begin(&op, store, OPERATION_WRITE, "task_put", &status, err))
        return status;
    status = task_put_in(&op, in, &answer);
    if (status == PAWL_OK)
        status = str_dup(arena, answer.missing, &answer.missing, err);
    return operation_give(&op, status, out, &answer);
}

pawl_status sqlite_jobs_task_remove(struct store *store, pawl_str name, pawl_error *err) {
    struct operation op;
    int64_t gone = 0;
    bool used = false;
    pawl_status status = PAWL_OK;
    if (!operation_begin(&op, store, OPERATION_WRITE, "task_remove", &status, err))
        return status;
    struct statement named = statement_begin(&op, SQLITE_Q_TASK_SCHEDULE);
    bind_text(&named, name);
    status = statement_any(&named, &used);
    if (status == PAWL_OK && used)
        status = task_in_use(name, err);
    if (status == PAWL_OK) {
        struct statement s = statement_begin(&op, SQLITE_Q_TASK_DELETE);
        bind_text(&s, name);
        status = statement_run_count(&s, &gone);
    }
    if (status == PAWL_OK && gone == 0)
        status = named_missing("task_remove", name, err);
    return operation_end(&op, status);
}

pawl_status sqlite_jobs_tasks(struct store *store, pawl_str name, pawl_str after_name, int limit,
                              struct arena *arena, struct task_list *out, pawl_error *err) {
    struct operation op;
    pawl_status status = check_list_limit("tasks", limit, err);
    if (!operation_begin(&op, store, OPERATION_READ, "tasks", &status, err))
        return status;
    struct statement s = statement_begin(&op, SQLITE_Q_TASK_LIST);
    bind_text(&s, name);
    bind_text(&s, after_name);
    bind_int(&s, limit);
    return operation_list(&op, &s, &task_shape, arena, ROWS_OUT(out, tasks));
}

pawl_status sqlite_jobs_agent_put(struct store *store, const struct agent *in, pawl_error *err) {
    struct operation op;
    pawl_status status = check_agent(in, err);
    if (!operation_begin(&op, store, OPERATION_WRITE, "agent_put", &status, err))
        return status;
    struct statement s = statement_begin(&op, SQLITE_Q_AGENT_PUT);
    bind_text(&s, in->name);
    bind_text(&s, str_absent(in->scopes) ? STR("[]") : in->scopes);
    bind_int(&s, in->disabled);
    bind_int(&s, op.now_ms);
    return operation_end(&op, statement_run(&s));
}

pawl_status sqlite_jobs_agents(struct store *store, struct arena *arena, struct agent_list *out,
                               pawl_error *err) {
    struct operation op;
    pawl_status status = PAWL_OK;
    if (!operation_begin(&op, store, OPERATION_READ, "agents", &status, err))
        return status;
    struct statement s = statement_begin(&op, SQLITE_Q_AGENT_LIST);
    return operation_list(&op, &s, &agent_shape, arena, ROWS_OUT(out, agents));
}

pawl_status sqlite_jobs_refusals(struct store *store, int limit, struct arena *arena,
                                 struct refusal_list *out, pawl_error *err) {
    struct operation op;
    pawl_status status = check_list_limit("refusals", limit, err);
    if (!operation_begin(&op, store, OPERATION_READ, "refusals", &status, err))
        return status;
    struct statement s = statement_begin(&op, SQLITE_Q_REFUSAL_LIST);
    bind_int(&s, limit);
    return operation_list(&op, &s, &refusal_shape, arena, ROWS_OUT(out, refusals));
}
