/* Tasks, agents, refusals. */
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

static struct task task_read(struct statement *s, struct arena *arena) {
    return (struct task){.name = column_copy(s, 0, arena),
                         .agent = column_copy(s, 1, arena),
                         .type = column_copy(s, 2, arena),
                         .spec = column_copy(s, 3, arena),
                         .params = column_copy(s, 4, arena),
                         .scopes = column_copy(s, 5, arena),
                         .queue = column_copy(s, 6, arena),
                         .key = column_copy(s, 7, arena),
                         .priority = (int)column_int(s, 8),
                         .max_attempts = (int)column_int(s, 9),
                         .flags = (int)column_int(s, 10),
                         .timeout_ms = column_int(s, 11),
                         .retention_ms = column_int(s, 12),
                         .version = column_int(s, 13),
                         .updated_ms = column_int(s, 14)};
}

pawl_status jobs_task_find(struct operation *op, pawl_str name, struct task *task, bool *found) {
    struct statement s = statement_begin(op, SQLITE_Q_TASK_FIND);
    bind_text(&s, name);
    *found = statement_next(&s);
    if (*found)
        *task = task_read(&s, op->scratch);
    return statement_end(&s);
}

static pawl_status task_write(struct operation *op, const struct task *in, int64_t version) {
    struct statement s = statement_begin(op, SQLITE_Q_TASK_PUT);
    bind_text(&s, in->name);
    bind_text(&s, in->agent);
    bind_text(&s, in->type);
    bind_text(&s, in->spec);
    bind_text(&s, in->params);
    bind_text(&s, str_absent(in->scopes) ? STR("[]") : in->scopes);
    bind_text(&s, in->queue);
    bind_text(&s, in->key);
    bind_int(&s, in->priority);
    bind_int(&s, in->max_attempts);
    bind_int(&s, in->flags);
    bind_int(&s, in->timeout_ms);
    bind_int(&s, in->retention_ms);
    bind_int(&s, version);
    bind_int(&s, op->now_ms);
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

pawl_status sqlite_task_put(struct store *store, const struct task *in, struct arena *arena,
                            struct put_answer *out, pawl_error *err) {
    struct operation op;
    struct put_answer answer;
    pawl_status status = check_task(in, err);
    if (status == PAWL_OK)
        status = operation_begin(&op, store, OPERATION_WRITE, "task_put", err);
    if (status != PAWL_OK)
        return status;
    status = task_put_in(&op, in, &answer);
    if (status == PAWL_OK)
        status = str_dup(arena, answer.missing, &answer.missing, err);
    status = operation_end(&op, status);
    if (status == PAWL_OK)
        *out = answer;
    return status;
}

pawl_status sqlite_task_remove(struct store *store, pawl_str name, pawl_error *err) {
    struct operation op;
    int64_t one = 0, gone = 0;
    bool used = false;
    pawl_status status = operation_begin(&op, store, OPERATION_WRITE, "task_remove", err);
    if (status != PAWL_OK)
        return status;
    struct statement named = statement_begin(&op, SQLITE_Q_TASK_SCHEDULE);
    bind_text(&named, name);
    status = statement_number(&named, &one, &used);
    if (status == PAWL_OK && used)
        status = error_set(err, PAWL_CONFLICT, "task_remove",
                           "a schedule names task '%.*s': remove the schedule first", STR_ARG(name));
    if (status == PAWL_OK) {
        struct statement s = statement_begin(&op, SQLITE_Q_TASK_DELETE);
        bind_text(&s, name);
        status = statement_run_count(&s, &gone);
    }
    if (status == PAWL_OK && gone == 0)
        status = error_set(err, PAWL_NOT_FOUND, "task_remove", "there is no '%.*s'", STR_ARG(name));
    return operation_end(&op, status);
}

pawl_status sqlite_tasks(struct store *store, pawl_str name, pawl_str after_name, int limit,
                         struct arena *arena, struct task_list *out, pawl_error *err) {
    struct operation op;
    pawl_status status = check_list_limit("tasks", limit, err);
    if (status == PAWL_OK)
        status = operation_begin(&op, store, OPERATION_READ, "tasks", err);
    if (status != PAWL_OK)
        return status;
    struct task_list list = {NULL, 0};
    size_t cap = 0;
    struct statement s = statement_begin(&op, SQLITE_Q_TASK_LIST);
    bind_text(&s, name);
    bind_text(&s, after_name);
    bind_int(&s, limit);
    while (status == PAWL_OK && statement_next(&s)) {
        status = list_grow(&op, arena, (void **)&list.tasks, &cap, list.count, sizeof *list.tasks);
        if (status == PAWL_OK)
            list.tasks[list.count++] = task_read(&s, arena);
    }
    pawl_status ended = statement_end(&s);
    status = operation_end(&op, status == PAWL_OK ? ended : status);
    if (status == PAWL_OK)
        *out = list;
    return status;
}

pawl_status sqlite_agent_put(struct store *store, const struct agent *in, pawl_error *err) {
    struct operation op;
    pawl_status status = check_agent(in, err);
    if (status == PAWL_OK)
        status = operation_begin(&op, store, OPERATION_WRITE, "agent_put", err);
    if (status != PAWL_OK)
        return status;
    struct statement s = statement_begin(&op, SQLITE_Q_AGENT_PUT);
    bind_text(&s, in->name);
    bind_text(&s, str_absent(in->scopes) ? STR("[]") : in->scopes);
    bind_int(&s, in->disabled);
    bind_int(&s, op.now_ms);
    return operation_end(&op, statement_run(&s));
}

pawl_status sqlite_agents(struct store *store, struct arena *arena, struct agent_list *out, pawl_error *err) {
    struct operation op;
    pawl_status status = operation_begin(&op, store, OPERATION_READ, "agents", err);
    if (status != PAWL_OK)
        return status;
    struct agent_list list = {NULL, 0};
    size_t cap = 0;
    struct statement s = statement_begin(&op, SQLITE_Q_AGENT_LIST);
    while (status == PAWL_OK && statement_next(&s)) {
        status = list_grow(&op, arena, (void **)&list.agents, &cap, list.count, sizeof *list.agents);
        if (status == PAWL_OK)
            list.agents[list.count++] = (struct agent){.name = column_copy(&s, 0, arena),
                                                       .scopes = column_copy(&s, 1, arena),
                                                       .disabled = column_int(&s, 2) != 0,
                                                       .updated_ms = column_int(&s, 3)};
    }
    pawl_status ended = statement_end(&s);
    status = operation_end(&op, status == PAWL_OK ? ended : status);
    if (status == PAWL_OK)
        *out = list;
    return status;
}

pawl_status sqlite_refusals(struct store *store, int limit, struct arena *arena, struct refusal_list *out,
                            pawl_error *err) {
    struct operation op;
    pawl_status status = check_list_limit("refusals", limit, err);
    if (status == PAWL_OK)
        status = operation_begin(&op, store, OPERATION_READ, "refusals", err);
    if (status != PAWL_OK)
        return status;
    struct refusal_list list = {NULL, 0};
    size_t cap = 0;
    struct statement s = statement_begin(&op, SQLITE_Q_REFUSAL_LIST);
    bind_int(&s, limit);
    while (status == PAWL_OK && statement_next(&s)) {
        status = list_grow(&op, arena, (void **)&list.refusals, &cap, list.count, sizeof *list.refusals);
        if (status == PAWL_OK)
            list.refusals[list.count++] = (struct refusal){.id = column_int(&s, 0),
                                                           .agent = column_copy(&s, 1, arena),
                                                           .task = column_copy(&s, 2, arena),
                                                           .missing = column_copy(&s, 3, arena),
                                                           .job_id = column_int(&s, 4),
                                                           .made_ms = column_int(&s, 5)};
    }
    pawl_status ended = statement_end(&s);
    status = operation_end(&op, status == PAWL_OK ? ended : status);
    if (status == PAWL_OK)
        *out = list;
    return status;
}
