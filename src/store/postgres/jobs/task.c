/* Tasks, schedules, agents and refusals on PostgreSQL. */
#include "base/str.h"
#include "store/check/jobs.h"
#include "store/postgres/query.h"

pawl_status postgres_jobs_task_put(struct store *store, const struct task *in, struct arena *arena,
                                   struct put_answer *out, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_TASK_PUT, "task_put", arena, check_task(in, err));
    SEND(&q, ROW_OF(task_new_shape, in));
    return pg_row(&q, &put_answer_shape, out, err);
}

/* An operation that names one thing and answers applied, conflict (in use) or not found. */
static pawl_status remove_named(struct store *store, enum postgres_query query, const char *op, pawl_str name,
                                pawl_error *err) {
    enum store_answer answer = ANSWER_APPLIED;
    struct query q = pg_write(store, query, op, NULL, PAWL_OK);
    SEND(&q, name);
    pawl_status status = pg_answer(&q, &answer, err);
    if (status != PAWL_OK || answer == ANSWER_APPLIED)
        return status;
    return answer == ANSWER_CONFLICT ? task_in_use(name, err) : named_missing(op, name, err);
}

pawl_status postgres_jobs_task_remove(struct store *store, pawl_str name, pawl_error *err) {
    return remove_named(store, POSTGRES_Q_TASK_REMOVE, "task_remove", name, err);
}

pawl_status postgres_jobs_schedule_remove(struct store *store, pawl_str name, pawl_error *err) {
    return remove_named(store, POSTGRES_Q_SCHEDULE_REMOVE, "schedule_remove", name, err);
}

pawl_status postgres_jobs_schedule_put(struct store *store, const struct job_schedule *in,
                                       struct put_answer *out, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_SCHEDULE_PUT, "schedule_put", NULL, check_schedule(in, err));
    SEND(&q, ROW_OF(schedule_new_shape, in), in->version);
    return pg_row(&q, &put_answer_plain_shape, out, err);
}

pawl_status postgres_jobs_schedules(struct store *store, const struct schedule_filter *filter,
                                    struct arena *arena, struct job_schedule_list *out, pawl_error *err) {
    struct query q = pg_read(store, POSTGRES_Q_SCHEDULES, "schedules", arena,
                             check_limit("schedules", filter->limit, err));
    SEND(&q, filter->name, filter->task, filter->due, filter->due ? str_from(NULL) : filter->after_name,
         filter->limit);
    return pg_list(&q, &schedule_shape, ROWS_OUT_NOW(out, schedules), err);
}

pawl_status postgres_jobs_schedule_fire(struct store *store, const struct schedule_fire *in,
                                        struct arena *arena, struct fire_result *out, pawl_error *err) {
    struct fire_result result = {0};
    struct query q =
        pg_write(store, POSTGRES_Q_SCHEDULE_FIRE, "schedule_fire", arena, check_schedule_fire(in, err));
    SEND(&q, in->name, in->version, in->after_ms, LIST(in->instants, in->count), LIST(in->due_ms, in->count),
         in->through_ms, in->next_ms);
    pawl_status status = pg_ask_one(&q, err);
    if (status == PAWL_OK) {
        result.answer = (enum store_answer)pg_cell_int(pg_cell(&q, 0, 0));
        result.answers = arena_array(arena, in->count, sizeof *result.answers);
        result.ids = arena_array(arena, in->count, sizeof *result.ids);
        if (result.answers == NULL || result.ids == NULL)
            status = pg_answer_no_memory(q.op, err);
        else if (!pg_cell_array_ints(pg_cell(&q, 0, 1), (int *)result.answers, in->count) ||
                 !pg_cell_array_bigs(pg_cell(&q, 0, 2), result.ids, in->count))
            status = pg_answer_malformed(q.op, err);
    }
    if (status == PAWL_OK)
        *out = result;
    pg_statement_clear(&q.statement);
    return status;
}

pawl_status postgres_jobs_refusal_add(struct store *store, const struct refusal *in, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_REFUSAL_ADD, "refusal_add", NULL, PAWL_OK);
    SEND(&q, in->agent, in->missing);
    return pg_done(&q, err);
}

pawl_status postgres_jobs_agent_put(struct store *store, const struct agent *in, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_AGENT_PUT, "agent_put", NULL, check_agent(in, err));
    SEND(&q, ROW_OF(agent_new_shape, in));
    return pg_done(&q, err);
}
