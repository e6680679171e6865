/* Steps of pipelines, signals, and limits of keys on SQLite. */
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "store/sqlite/jobs/jobs.h"

pawl_status jobs_key(struct operation *op, pawl_str key, struct jobrule_key *of) {
    *of = (struct jobrule_key){.key = key, .limit = {.weight = 1}};
    struct statement s = SQL(op, SQLITE_Q_JOB_KEY_FIND, key);
    if (statement_next(&s)) {
        of->running = (int)column_int(&s, 0);
        of->vtime = column_int(&s, 1);
        of->tat_us = column_int(&s, 2);
    }
    TRY(statement_end(&s));
    pawl_str prefix = jobrule_prefix(key);
    const char *star = str_absent(prefix) ? NULL : arena_printf(op->scratch, "%.*s*", STR_ARG(prefix));
    struct statement l = SQL(op, SQLITE_Q_JOB_LIMIT_FIND, key, str_from(star));
    if (statement_next(&l))
        of->limit = (struct jobrule_limit){(int)column_int(&l, 0), (int)column_int(&l, 1), column_int(&l, 2),
                                           (int)column_int(&l, 3)};
    return statement_end(&l);
}

pawl_status jobs_key_free(struct operation *op, pawl_str key) {
    if (str_absent(key))
        return PAWL_OK;
    return statement_run(SQL(op, SQLITE_Q_JOB_KEY_FREE, key));
}

pawl_status jobs_step_write(struct operation *op, int64_t job_id, const struct job_step *step,
                            enum store_answer *answer) {
    int64_t state = 0;
    bool found = false;
    TRY(statement_number(SQL(op, SQLITE_Q_JOB_STEP_FIND, job_id, step->step, step->index), &state, &found));
    *answer = ANSWER_DUPLICATE;
    if (found && !job_step_open((enum job_step_state)state))
        return PAWL_OK;
    *answer = ANSWER_APPLIED;
    struct job_step row = *step;
    row.started_ms = op->now_ms - step->duration_ms;
    row.finished_ms = op->now_ms;
    row.error = utf8_cut(step->error, PAWL_ERROR_BYTES_MAX);
    return statement_run(SQL(op, SQLITE_Q_JOB_STEP_PUT, job_id, ROW_OF(job_step_shape, &row)));
}

pawl_status sqlite_jobs_steps_put(struct store *store, const struct steps_put *in, struct arena *arena,
                                  struct job_answers *out, pawl_error *err) {
    struct jobs_call call;
    struct job_answers result = {arena_array(arena, in->count, sizeof *result.answers), in->count};
    bool held = false;
    pawl_status status =
        jobs_call_begin(&call, store, "steps_put", in->instance, check_steps_put(in, err), err);
    if (status != PAWL_OK)
        return status;
    status = result.answers == NULL ? operation_no_memory(call.op) : jobs_held(&call, in->ref, &held);
    for (size_t i = 0; status == PAWL_OK && i < in->count; i++) {
        result.answers[i] = ANSWER_STALE;
        if (held)
            status = jobs_step_write(call.op, in->ref.id, &in->steps[i], &result.answers[i]);
    }
    return jobs_give(&call, status, out, &result);
}

pawl_status sqlite_jobs_steps_read(struct store *store, int64_t job_id, struct arena *arena,
                                   struct job_steps *out, pawl_error *err) {
    struct operation op = operation_read(store, "steps_read", PAWL_OK, err);
    pawl_status status = operation_list(&op, SQL(&op, SQLITE_Q_JOB_STEP_LIST, job_id), &job_step_shape, arena,
                                        ROWS_OUT(out, steps));
    for (size_t i = 0; status == PAWL_OK && i < out->count; i++)
        out->steps[i].duration_ms = out->steps[i].finished_ms - out->steps[i].started_ms;
    return status;
}

static pawl_status wake_one(struct jobs_call *call, int64_t id, pawl_str payload) {
    struct stored_job job;
    bool found = false;
    enum store_answer answer;
    TRY(jobs_brief(call, id, &job, &found));
    if (!found)
        return PAWL_OK;
    struct job_step step = {.step = job.row.wait_step,
                            .state = JOB_STEP_DONE,
                            .attempt = JOB_STEP_WAIT_ATTEMPT,
                            .output = payload};
    TRY(jobs_step_write(call->op, id, &step, &answer));
    job.row.wait_key = job.row.wait_step = (pawl_str){NULL, 0};
    job.row.job.due_ms = call->op->now_ms;
    job.ord = jobrule_order(job.row.job.due_ms, job.row.job.priority);
    return jobs_move(call, &job, JOB_READY);
}

static pawl_status keep_signal(struct operation *op, const struct job_wake *in, pawl_str payload) {
    return statement_run(
        SQL(op, SQLITE_Q_JOB_SIGNAL_INSERT, in->wait_key, op->now_ms + in->keep_ms, payload));
}

pawl_status jobs_wake_in(struct jobs_call *call, const struct job_wake *in, struct wake_result *out) {
    struct id_list ids = {NULL, 0};
    pawl_str payload = str_absent(in->payload) ? STR("null") : in->payload;
    TRY(jobs_ids(SQL(call->op, SQLITE_Q_JOB_LIST_WAITING, in->wait_key), call->op->scratch, &ids));
    for (size_t i = 0; i < ids.count; i++)
        TRY(wake_one(call, ids.ids[i], payload));
    bool keep = ids.count == 0 && in->keep_ms > 0;
    if (keep)
        TRY(keep_signal(call->op, in, payload));
    if (ids.count > 0)
        TRY(jobs_wake_wanted(call->op));
    *out = (struct wake_result){(int64_t)ids.count, keep};
    return PAWL_OK;
}

pawl_status sqlite_jobs_wake(struct store *store, const struct job_wake *in, struct wake_result *out,
                             pawl_error *err) {
    struct jobs_call call;
    struct wake_result result = {0, false};
    jobs_call_begin(&call, store, "jobs_wake", uuid_nil(), check_job_wake(in, err), err);
    return jobs_give(&call, jobs_wake_in(&call, in, &result), out, &result);
}

pawl_status jobs_limit_put(struct operation *op, const struct job_limit *in) {
    bool remove = in->concurrency == 0 && in->rate == 0 && in->weight == 1;
    return statement_run(remove ? SQL(op, SQLITE_Q_JOB_LIMIT_DELETE, in->key)
                                : SQL(op, SQLITE_Q_JOB_LIMIT_PUT, ROW_OF(job_limit_shape, in)));
}

pawl_status sqlite_jobs_limit_set(struct store *store, const struct job_limit *in, pawl_error *err) {
    struct operation op = operation_write(store, "job_limit_set", check_job_limit(in, err), err);
    return operation_end(&op, jobs_limit_put(&op, in));
}
