/* Tasks, schedules, agents and refusals. */
#include "base/error.h"
#include "base/str.h"
#include "store/postgres/jobs/jobs.h"

#define CELL(column) ((struct cell){r, row, (column)})
#define TEXT(column) pg_cell_text(CELL(column), arena, &failed)

pawl_status postgres_jobs_task_put(struct store *store, const struct task *in, struct arena *arena,
                                   struct put_answer *out, pawl_error *err) {
    pawl_status status = check_task(in, err);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_TASK_PUT, arena);
    struct params *p = &statement.params;
    pg_params_text(p, in->name);
    pg_params_text(p, in->agent);
    pg_params_text(p, in->type);
    pg_params_json(p, in->spec);
    pg_params_json(p, in->params);
    pg_params_json(p, in->scopes);
    pg_params_text(p, in->queue);
    pg_params_text(p, in->key);
    pg_params_int(p, in->priority);
    pg_params_int(p, in->max_attempts);
    pg_params_int(p, in->flags);
    pg_params_big(p, in->timeout_ms);
    pg_params_big(p, in->retention_ms);
    pg_params_big(p, in->version);
    status = pg_statement_run(postgres_of(store), "task_put", &statement, EFFECT_WRITE, err);
    if (status == PAWL_OK) {
        const PGresult *r = statement.result;
        int row = 0;
        bool failed = false;
        struct put_answer answer = {(enum store_answer)pg_cell_int(CELL(0)), pg_cell_int(CELL(1)), TEXT(2)};
        if (failed)
            status = pg_answer_no_memory("task_put", err);
        else
            *out = answer;
    }
    pg_statement_clear(&statement);
    return status;
}

/* An operation that names one thing and answers 1 applied, 4 in use, 6 not found. */
static pawl_status remove_named(struct store *store, enum postgres_query query, const char *op, pawl_str name,
                                pawl_error *err) {
    struct brief brief;
    pawl_status status = pg_brief_begin(&brief, query, op, err);
    if (status != PAWL_OK)
        return status;
    pg_params_text(&brief.statement.params, name);
    status = pg_statement_run(postgres_of(store), op, &brief.statement, EFFECT_WRITE, err);
    int64_t answer = status == PAWL_OK ? pg_cell_int((struct cell){brief.statement.result, 0, 0}) : 0;
    pg_brief_end(&brief);
    if (status != PAWL_OK || answer == ANSWER_APPLIED)
        return status;
    if (answer == ANSWER_CONFLICT)
        return error_set(err, PAWL_CONFLICT, op, "a schedule names task '%.*s': remove the schedule first",
                         STR_ARG(name));
    return error_set(err, PAWL_NOT_FOUND, op, "there is no '%.*s'", STR_ARG(name));
}

pawl_status postgres_jobs_task_remove(struct store *store, pawl_str name, pawl_error *err) {
    return remove_named(store, POSTGRES_Q_TASK_REMOVE, "task_remove", name, err);
}

pawl_status postgres_jobs_schedule_remove(struct store *store, pawl_str name, pawl_error *err) {
    return remove_named(store, POSTGRES_Q_SCHEDULE_REMOVE, "schedule_remove", name, err);
}

pawl_status postgres_jobs_tasks(struct store *store, pawl_str name, pawl_str after_name, int limit,
                                struct arena *arena, struct task_list *out, pawl_error *err) {
    struct row_list list;
    pawl_status status = check_list_limit("tasks", limit, err);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_TASKS, arena);
    pg_params_text(&statement.params, name);
    pg_params_text(&statement.params, after_name);
    pg_params_int(&statement.params, limit);
    status = pg_rows_run(store, &statement, "tasks", &task_shape, &list, err);
    if (status == PAWL_OK)
        *out = (struct task_list){list.rows, list.count};
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_jobs_schedule_put(struct store *store, const struct job_schedule *in,
                                       struct put_answer *out, pawl_error *err) {
    struct brief brief;
    pawl_status status = check_schedule(in, err);
    if (status == PAWL_OK)
        status = pg_brief_begin(&brief, POSTGRES_Q_SCHEDULE_PUT, "schedule_put", err);
    if (status != PAWL_OK)
        return status;
    struct params *p = &brief.statement.params;
    pg_params_text(p, in->name);
    pg_params_text(p, in->task);
    pg_params_small(p, (int)in->kind);
    pg_params_text(p, in->expr);
    pg_params_text(p, in->zone);
    pg_params_json(p, in->params);
    pg_params_small(p, (int)in->missed);
    pg_params_int(p, in->missed_max);
    pg_params_small(p, (int)in->overlap);
    pg_params_big(p, in->jitter_ms);
    pg_params_big(p, in->start_ms);
    pg_params_big(p, in->end_ms);
    pg_params_bool(p, in->paused);
    pg_params_big(p, in->next_ms);
    pg_params_big(p, in->version);
    status = pg_statement_run(postgres_of(store), "schedule_put", &brief.statement, EFFECT_WRITE, err);
    if (status == PAWL_OK)
        *out = (struct put_answer){
            .answer = (enum store_answer)pg_cell_int((struct cell){brief.statement.result, 0, 0}),
            .version = pg_cell_int((struct cell){brief.statement.result, 0, 1})};
    pg_brief_end(&brief);
    return status;
}

pawl_status postgres_jobs_schedules(struct store *store, const struct schedule_filter *filter,
                                    struct arena *arena, struct job_schedule_list *out, pawl_error *err) {
    struct row_list list;
    pawl_status status = check_list_limit("schedules", filter->limit, err);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_SCHEDULES, arena);
    pg_params_text(&statement.params, filter->name);
    pg_params_text(&statement.params, filter->task);
    pg_params_bool(&statement.params, filter->due);
    pg_params_text(&statement.params, filter->due ? (pawl_str){NULL, 0} : filter->after_name);
    pg_params_int(&statement.params, filter->limit);
    status = pg_rows_run(store, &statement, "schedules", &schedule_shape, &list, err);
    if (status == PAWL_OK)
        *out = (struct job_schedule_list){list.rows, list.count, pg_rows_now(&statement, &schedule_shape)};
    pg_statement_clear(&statement);
    return status == PAWL_OK && list.count == 0 ? postgres_clock_read(store, &out->now_ms, err) : status;
}

pawl_status postgres_jobs_schedule_fire(struct store *store, const struct schedule_fire *in,
                                        struct arena *arena, struct fire_result *out, pawl_error *err) {
    struct fire_result result = {0};
    pawl_status status = check_schedule_fire(in, err);
    if (status != PAWL_OK)
        return status;
    result.answers = arena_array(arena, in->count, sizeof *result.answers);
    result.ids = arena_array(arena, in->count, sizeof *result.ids);
    if (result.answers == NULL || result.ids == NULL)
        return pg_answer_no_memory("schedule_fire", err);
    struct statement statement = pg_statement_new(POSTGRES_Q_SCHEDULE_FIRE, arena);
    pg_params_text(&statement.params, in->name);
    pg_params_big(&statement.params, in->version);
    pg_params_bigs(&statement.params, (struct strided){in->instants, sizeof *in->instants, in->count});
    pg_params_bigs(&statement.params, (struct strided){in->due_ms, sizeof *in->due_ms, in->count});
    pg_params_big(&statement.params, in->through_ms);
    pg_params_big(&statement.params, in->next_ms);
    status = pg_statement_run(postgres_of(store), "schedule_fire", &statement, EFFECT_WRITE, err);
    if (status == PAWL_OK &&
        (PQntuples(statement.result) != 1 ||
         !pg_cell_array_ints((struct cell){statement.result, 0, 1}, (int *)result.answers, in->count) ||
         !pg_cell_array_bigs((struct cell){statement.result, 0, 2}, result.ids, in->count)))
        status = pg_answer_malformed("schedule_fire", err);
    if (status == PAWL_OK) {
        result.answer = (enum store_answer)pg_cell_int((struct cell){statement.result, 0, 0});
        *out = result;
    }
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_jobs_agent_put(struct store *store, const struct agent *in, pawl_error *err) {
    struct brief brief;
    pawl_status status = check_agent(in, err);
    if (status == PAWL_OK)
        status = pg_brief_begin(&brief, POSTGRES_Q_AGENT_PUT, "agent_put", err);
    if (status != PAWL_OK)
        return status;
    pg_params_text(&brief.statement.params, in->name);
    pg_params_json(&brief.statement.params, in->scopes);
    pg_params_bool(&brief.statement.params, in->disabled);
    status = pg_statement_run(postgres_of(store), "agent_put", &brief.statement, EFFECT_WRITE, err);
    pg_brief_end(&brief);
    return status;
}

pawl_status postgres_jobs_agents(struct store *store, struct arena *arena, struct agent_list *out,
                                 pawl_error *err) {
    struct row_list list;
    struct statement statement = pg_statement_new(POSTGRES_Q_AGENTS, arena);
    pawl_status status = pg_rows_run(store, &statement, "agents", &agent_shape, &list, err);
    if (status == PAWL_OK)
        *out = (struct agent_list){list.rows, list.count};
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_jobs_refusals(struct store *store, int limit, struct arena *arena,
                                   struct refusal_list *out, pawl_error *err) {
    struct row_list list;
    pawl_status status = check_list_limit("refusals", limit, err);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_REFUSALS, arena);
    pg_params_int(&statement.params, limit);
    status = pg_rows_run(store, &statement, "refusals", &refusal_shape, &list, err);
    if (status == PAWL_OK)
        *out = (struct refusal_list){list.rows, list.count};
    pg_statement_clear(&statement);
    return status;
}
