/* Tasks, agents and refusals on SQLite. */
#include "base/error.h"
#include "base/str.h"
#include "domain/authority/scope.h"
#include "store/sqlite/jobs/jobs.h"

static pawl_status jobs_scope_missing(struct operation *op, pawl_str agent, pawl_str scopes,
                                      pawl_str *missing) {
    *missing = (pawl_str){NULL, 0};
    if (str_absent(agent))
        return PAWL_OK;
    pawl_str held = {NULL, 0};
    bool disabled = false;
    struct statement s = SQL(op, SQLITE_Q_AGENT_FIND, agent);
    bool found = statement_next(&s);
    if (found) {
        held = column_copy(&s, 0, op->scratch);
        disabled = column_int(&s, 1) != 0;
    }
    TRY(statement_end(&s));
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
    return statement_run(SQL(op, SQLITE_Q_REFUSAL_INSERT, agent, task, missing, job_id, op->now_ms));
}

pawl_status jobs_task_missing(struct operation *op, const struct task *task, pawl_str agent,
                              pawl_str *missing) {
    if (str_absent(agent) || str_absent(task->agent) || str_equal(agent, task->agent))
        return jobs_scope_missing(op, str_absent(agent) ? task->agent : agent, task->scopes, missing);
    *missing = str_from(arena_printf(op->scratch, "agent %.*s", STR_ARG(task->agent)));
    return str_absent(*missing) ? operation_no_memory(op) : PAWL_OK;
}

pawl_status jobs_task_find(struct operation *op, pawl_str name, struct task *task, bool *found) {
    return row_find(SQL(op, SQLITE_Q_TASK_FIND, name), &task_shape, op->scratch, task, found);
}

static pawl_status task_write(struct operation *op, const struct task *in, int64_t version) {
    struct task task = *in;
    task.version = version;
    task.updated_ms = op->now_ms;
    if (str_absent(task.scopes))
        task.scopes = STR("[]");
    return statement_run(SQL(op, SQLITE_Q_TASK_PUT, ROW_OF(task_shape, &task)));
}

static pawl_status agent_known(struct operation *op, pawl_str agent, bool *known) {
    *known = true;
    if (str_absent(agent))
        return PAWL_OK;
    struct statement s = SQL(op, SQLITE_Q_AGENT_FIND, agent);
    *known = statement_next(&s);
    return statement_end(&s);
}

static pawl_status task_put_in(struct operation *op, const struct task *in, struct put_answer *answer) {
    struct task old = {0};
    bool found = false, known = false;
    TRY(agent_known(op, in->agent, &known));
    TRY(jobs_task_find(op, in->name, &old, &found));
    *answer = (struct put_answer){ANSWER_APPLIED, found ? old.version : 0, {NULL, 0}};
    if (!known) {
        *answer = (struct put_answer){ANSWER_NOT_FOUND, 0, {NULL, 0}};
        return PAWL_OK;
    }
    if (in->version != 0 && in->version != answer->version) {
        answer->answer = ANSWER_CONFLICT;
        return PAWL_OK;
    }
    TRY(jobs_scope_missing(op, in->agent, in->scopes, &answer->missing));
    if (!str_absent(answer->missing)) {
        answer->answer = ANSWER_REFUSED;
        return jobs_refuse(op, in->agent, in->name, answer->missing, 0);
    }
    return task_write(op, in, ++answer->version);
}

pawl_status sqlite_jobs_task_put(struct store *store, const struct task *in, struct arena *arena,
                                 struct put_answer *out, pawl_error *err) {
    struct put_answer answer;
    struct operation op = operation_write(store, "task_put", check_task(in, err), err);
    if (op.status != PAWL_OK)
        return op.status;
    pawl_status status = task_put_in(&op, in, &answer);
    if (status == PAWL_OK)
        status = str_dup(arena, answer.missing, &answer.missing, err);
    return operation_give(&op, status, out, &answer);
}

pawl_status sqlite_jobs_task_remove(struct store *store, pawl_str name, pawl_error *err) {
    int64_t gone = 0;
    bool used = false;
    struct operation op = operation_write(store, "task_remove", PAWL_OK, err);
    if (op.status != PAWL_OK)
        return op.status;
    pawl_status status = statement_any(SQL(&op, SQLITE_Q_TASK_SCHEDULE, name), &used);
    if (status == PAWL_OK && used)
        status = task_in_use(name, err);
    if (status == PAWL_OK)
        status = statement_run_count(SQL(&op, SQLITE_Q_TASK_DELETE, name), &gone);
    if (status == PAWL_OK && gone == 0)
        status = named_missing("task_remove", name, err);
    return operation_end(&op, status);
}

pawl_status sqlite_jobs_refusal_add(struct store *store, const struct refusal *in, pawl_error *err) {
    struct operation op = operation_write(store, "refusal_add", PAWL_OK, err);
    return operation_end(&op, jobs_refuse(&op, in->agent, in->task, in->missing, in->job_id));
}

pawl_status sqlite_jobs_agent_put(struct store *store, const struct agent *in, pawl_error *err) {
    struct operation op = operation_write(store, "agent_put", check_agent(in, err), err);
    return operation_end(
        &op, statement_run(SQL(&op, SQLITE_Q_AGENT_PUT, in->name,
                               str_absent(in->scopes) ? STR("[]") : in->scopes, in->disabled, op.now_ms)));
}
