/* Schedules on SQLite: storing, listing and firing them. */
#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/sqlite/jobs/jobs.h"

static pawl_status schedule_find(struct operation *op, pawl_str name, struct job_schedule *schedule,
                                 bool *found) {
    return row_find(SQL(op, SQLITE_Q_SCHEDULE_FIND, name), &schedule_shape, op->scratch, schedule, found);
}

static pawl_status schedule_write(struct operation *op, const struct job_schedule *in, int64_t last_ms,
                                  int64_t version) {
    struct job_schedule schedule = *in;
    schedule.last_ms = last_ms;
    schedule.version = version;
    schedule.updated_ms = op->now_ms;
    return statement_run(SQL(op, SQLITE_Q_SCHEDULE_PUT, ROW_OF(schedule_shape, &schedule)));
}

static pawl_status schedule_put_in(struct operation *op, const struct job_schedule *in,
                                   struct put_answer *answer) {
    struct task task;
    struct job_schedule old = {0};
    bool has_task = false, found = false;
    TRY(jobs_task_find(op, in->task, &task, &has_task));
    TRY(schedule_find(op, in->name, &old, &found));
    *answer = (struct put_answer){ANSWER_APPLIED, found ? old.version : 0, {NULL, 0}};
    if (!has_task) {
        *answer = (struct put_answer){ANSWER_NOT_FOUND, 0, {NULL, 0}};
        return PAWL_OK;
    }
    if (in->version != 0 && in->version != answer->version) {
        answer->answer = ANSWER_CONFLICT;
        return PAWL_OK;
    }
    TRY(schedule_write(op, in, old.last_ms, ++answer->version));
    /* Wakes workers that sleep until the next schedule. */
    return jobs_wake_wanted(op);
}

pawl_status sqlite_jobs_schedule_put(struct store *store, const struct job_schedule *in,
                                     struct put_answer *out, pawl_error *err) {
    struct put_answer answer;
    struct operation op = operation_write(store, "schedule_put", check_schedule(in, err), err);
    return operation_give(&op, schedule_put_in(&op, in, &answer), out, &answer);
}

pawl_status sqlite_jobs_schedule_remove(struct store *store, pawl_str name, pawl_error *err) {
    int64_t gone = 0;
    struct operation op = operation_write(store, "schedule_remove", PAWL_OK, err);
    if (op.status != PAWL_OK)
        return op.status;
    pawl_status status = statement_run_count(SQL(&op, SQLITE_Q_SCHEDULE_DELETE, name), &gone);
    if (status == PAWL_OK && gone == 0)
        status = named_missing("schedule_remove", name, err);
    if (status == PAWL_OK)
        status = statement_run(SQL(&op, SQLITE_Q_FIRE_DELETE, name));
    return operation_end(&op, status);
}

pawl_status sqlite_jobs_schedules(struct store *store, const struct schedule_filter *filter,
                                  struct arena *arena, struct job_schedule_list *out, pawl_error *err) {
    struct operation op =
        operation_read(store, "schedules", check_limit("schedules", filter->limit, err), err);
    if (op.status != PAWL_OK)
        return op.status;
    struct statement s =
        filter->due
            ? SQL(&op, SQLITE_Q_SCHEDULE_DUE, op.now_ms, filter->name, filter->task, filter->limit)
            : SQL(&op, SQLITE_Q_SCHEDULE_LIST, filter->name, filter->task, filter->after_name, filter->limit);
    return operation_list(&op, s, &schedule_shape, arena, ROWS_OUT_NOW(out, schedules));
}

static pawl_status note_fire(struct operation *op, pawl_str name, int64_t instant_ms, int64_t job_id) {
    return statement_run(SQL(op, SQLITE_Q_FIRE_INSERT, name, instant_ms, job_id, op->now_ms));
}

/* The job of one instant, at most once. */
static pawl_status fire_one(struct jobs_call *call, const struct job_schedule *schedule, int64_t instant_ms,
                            int64_t due_ms, enum store_answer *answer, int64_t *id) {
    struct operation *op = call->op;
    int64_t made = 0;
    bool fired = instant_ms <= schedule->last_ms;
    if (!fired)
        TRY(statement_any(SQL(op, SQLITE_Q_FIRE_FIND, schedule->name, instant_ms), &fired));
    *answer = ANSWER_DUPLICATE;
    if (fired)
        return PAWL_OK;
    const char *own = arena_printf(op->scratch, "schedule:%.*s", STR_ARG(schedule->name));
    struct job job = {.task = schedule->task,
                      .payload = schedule->params,
                      .schedule = schedule->name,
                      .instant_ms = instant_ms,
                      .due_ms = due_ms};
    if (own == NULL)
        return operation_no_memory(op);
    if (schedule->overlap == OVERLAP_SKIP)
        job.unique_key = str_from(own);
    else if (schedule->overlap == OVERLAP_QUEUE)
        job.key = str_from(own);
    TRY(jobs_insert(call, &job, answer, &made));
    *id = *answer == ANSWER_APPLIED ? made : 0;
    if (*answer == ANSWER_DUPLICATE)
        *answer = ANSWER_CONFLICT;
    return note_fire(op, schedule->name, instant_ms, *id);
}

static pawl_status fire_in(struct jobs_call *call, const struct schedule_fire *in,
                           struct fire_result *result) {
    struct operation *op = call->op;
    struct job_schedule schedule;
    bool found = false;
    TRY(schedule_find(op, in->name, &schedule, &found));
    bool same = found && schedule.version == in->version && schedule.last_ms >= in->after_ms;
    result->answer = !found ? ANSWER_NOT_FOUND : same ? ANSWER_APPLIED : ANSWER_CONFLICT;
    for (size_t i = 0; i < in->count; i++) {
        if (result->answer != ANSWER_APPLIED)
            result->answers[i] = ANSWER_CONFLICT;
        else if (i > 0 && result->answers[i - 1] == ANSWER_REFUSED)
            result->answers[i] = ANSWER_REFUSED;
        else
            TRY(fire_one(call, &schedule, in->instants[i], in->due_ms[i], &result->answers[i],
                         &result->ids[i]));
    }
    if (result->answer != ANSWER_APPLIED)
        return PAWL_OK;
    if (schedule.last_ms <= in->through_ms)
        TRY(statement_run(SQL(op, SQLITE_Q_SCHEDULE_MOVE, in->name, in->through_ms, in->next_ms)));
    return jobs_wake_wanted(op);
}

pawl_status sqlite_jobs_schedule_fire(struct store *store, const struct schedule_fire *in,
                                      struct arena *arena, struct fire_result *out, pawl_error *err) {
    struct jobs_call call;
    struct fire_result result = {0};
    pawl_status status =
        jobs_call_begin(&call, store, "schedule_fire", uuid_nil(), check_schedule_fire(in, err), err);
    if (status != PAWL_OK)
        return status;
    result.answers = arena_array(arena, in->count, sizeof *result.answers);
    result.ids = arena_array(arena, in->count, sizeof *result.ids);
    if (result.answers == NULL || result.ids == NULL)
        status = operation_no_memory(call.op);
    else
        status = fire_in(&call, in, &result);
    return jobs_give(&call, status, out, &result);
}
