/* Jobs on SQLite: a call's counters and sums, reading and moving rows, and enqueueing. */
#include "store/sqlite/jobs/jobs.h"

#include <string.h>

#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/sqlite/messages/put.h"

pawl_status jobs_begin(struct jobs_call *call, struct operation *op, pawl_uuid chain) {
    *call = (struct jobs_call){.op = op, .chain = chain};
    buf_init(&call->entries, 0);
    struct statement s = statement_begin(op, SQLITE_Q_JOB_STATE_READ);
    if (statement_next(&s)) {
        call->last_job = column_int(&s, 0);
        call->last_run = column_int(&s, 1);
        call->swept_ms = column_int(&s, 2);
        call->vtime = column_int(&s, 3);
        call->turn = column_int(&s, 4) != 0;
    }
    return statement_end(&s);
}

pawl_status jobs_call_begin(struct jobs_call *call, struct store *store, const char *name, pawl_uuid chain,
                            pawl_status checked, pawl_error *err) {
    struct operation op = operation_write(store, name, checked, err);
    pawl_status status = op.status == PAWL_OK ? jobs_begin(call, &op, chain) : op.status;
    call->own = op;
    call->op = &call->own;
    if (status != PAWL_OK && op.status == PAWL_OK)
        call->own.status = operation_end(call->op, jobs_end(call, status));
    return call->own.status;
}

static pawl_status write_sums(struct jobs_call *call, const struct job_counts *c) {
    return statement_run(SQL(call->op, SQLITE_Q_JOB_TALLY_ADD, ROW_OF(job_tally_shape, c)));
}

pawl_status jobs_end(struct jobs_call *call, pawl_status status) {
    if (status == PAWL_OK && call->no_memory)
        status = operation_no_memory(call->op);
    if (status == PAWL_OK)
        status = jobs_seal(call);
    for (struct job_sums *sums = call->sums; status == PAWL_OK && sums != NULL; sums = sums->next)
        status = write_sums(call, &sums->counts);
    if (status == PAWL_OK && call->changed)
        status = statement_run(SQL(call->op, SQLITE_Q_JOB_STATE_WRITE, call->last_job, call->last_run,
                                   call->swept_ms, call->vtime, call->turn));
    buf_free(&call->entries);
    return status;
}

struct job_counts *jobs_sums(struct jobs_call *call, pawl_str queue) {
    for (struct job_sums *sums = call->sums; sums != NULL; sums = sums->next)
        if (str_equal(sums->counts.queue, queue))
            return &sums->counts;
    struct job_sums *fresh = arena_alloc(call->op->scratch, sizeof *fresh);
    pawl_str name = {NULL, 0};
    if (fresh == NULL || str_dup(call->op->scratch, queue, &name, NULL) != PAWL_OK) {
        call->no_memory = true;
        return &call->spare;
    }
    fresh->next = call->sums;
    fresh->counts.queue = name;
    call->sums = fresh;
    return &fresh->counts;
}

/* In a row of counts the gauges follow the queue, in the order of the states. */
static void move_gauge(struct job_counts *counts, int state, int64_t by) {
    if (state >= JOB_READY && state <= JOB_STATE_LAST)
        *(int64_t *)((char *)counts + job_counts_shape.members[state].offset) += by;
}

/* job_full selects them all, job_brief those before progress. */
LOCAL_SHAPE(job_full, struct stored_job, M(row.job.id), M(row.state), M(ord), M(row.job.due_ms),
            M(row.job.put_ms), M(row.job.token), M(row.job.lease_until_ms), M(row.job.priority),
            M(row.job.attempts), M(row.job.max_attempts), M(row.job.flags), M(row.job.deadline_ms),
            M(row.job.timeout_ms), M(row.job.instant_ms), M(row.job.cancel_ms), M(row.died_ms), M(row.reason),
            M(row.job.queue), M(row.job.type), M(row.job.task), M(row.job.key), M(row.job.unique_key),
            M(row.job.traceparent), M(row.job.schedule), M(row.wait_key), M(row.wait_step),
            M(row.fingerprint), M(row.error), M(row.job.agent), M(row.job.progress), M(row.job.payload),
            M(row.instance));
/* What changes while there is a job. */
LOCAL_SHAPE(job_set, struct stored_job, M(row.job.id), M(row.state), M(ord), M(row.job.due_ms),
            M(row.job.token), M(row.job.lease_until_ms), M(row.job.attempts), M(row.job.deadline_ms),
            M(row.job.cancel_ms), M(row.died_ms), M(row.reason), M(row.wait_key), M(row.wait_step),
            M(row.fingerprint), M(row.error), M(row.job.flags));
LOCAL_SHAPE(job_insert, struct stored_job, M(row.job.id), M(row.state), M(ord), M(row.job.due_ms),
            M(row.job.put_ms), M(row.job.priority), M(row.job.max_attempts), M(row.job.flags),
            M(row.job.deadline_ms), M(row.job.timeout_ms), M(row.job.instant_ms), M(row.job.queue),
            M(row.job.type), M(row.job.task), M(row.job.key), M(row.job.unique_key), M(row.job.traceparent),
            M(row.job.schedule), M(row.job.payload), M(row.job.agent));
static const struct row_shape job_brief = {
    job_full_members, sizeof job_full_members / sizeof *job_full_members - 3, sizeof(struct stored_job)};

pawl_status jobs_brief(struct jobs_call *call, int64_t id, struct stored_job *job, bool *found) {
    *job = (struct stored_job){0};
    return row_find(SQL(call->op, SQLITE_Q_JOB_BRIEF, id), &job_brief, call->op->scratch, job, found);
}

pawl_status jobs_full(struct operation *op, int64_t id, struct arena *arena, struct job_row *row) {
    struct stored_job job = {0};
    bool found = false;
    TRY(row_find(SQL(op, SQLITE_Q_JOB_FULL, id), &job_full_shape, arena, &job, &found));
    *row = job.row;
    return PAWL_OK;
}

pawl_status jobs_move(struct jobs_call *call, struct stored_job *job, enum job_state state) {
    struct job_counts *counts = jobs_sums(call, job->row.job.queue);
    move_gauge(counts, (int)job->row.state, -1);
    move_gauge(counts, (int)state, 1);
    job->row.state = state;
    return statement_run(SQL(call->op, SQLITE_Q_JOB_SET, ROW_OF(job_set_shape, job)));
}

pawl_status jobs_remove(struct jobs_call *call, const struct stored_job *job) {
    move_gauge(jobs_sums(call, job->row.job.queue), (int)job->row.state, -1);
    TRY(statement_run(SQL(call->op, SQLITE_Q_JOB_DELETE, job->row.job.id)));
    return statement_run(SQL(call->op, SQLITE_Q_JOB_STEP_DELETE, job->row.job.id));
}

pawl_status jobs_ids(struct statement s, struct arena *arena, struct id_list *list) {
    struct row_list rows = {NULL, 0};
    TRY(rows_read(s, &number_shape, arena, &rows));
    *list = (struct id_list){rows.rows, rows.count};
    return PAWL_OK;
}

/* Fills in from the task; *answer stays applied unless there is none or its agent may not. */
static pawl_status apply_task(struct jobs_call *call, struct job *job, enum store_answer *answer) {
    struct task task;
    pawl_str missing = {NULL, 0};
    bool found = false;
    TRY(jobs_task_find(call->op, job->task, &task, &found));
    if (found)
        TRY(jobs_task_missing(call->op, &task, job->agent, &missing));
    if (!found) {
        *answer = ANSWER_NOT_FOUND;
        return PAWL_OK;
    }
    if (!str_absent(missing)) {
        *answer = ANSWER_REFUSED;
        return jobs_refuse(call->op, str_absent(job->agent) ? task.agent : job->agent, task.name, missing, 0);
    }
    job_fill_in(job, &task);
    return PAWL_OK;
}

static pawl_status find_holder(struct jobs_call *call, pawl_str unique_key, int64_t *id, bool *held) {
    return statement_number(SQL(call->op, SQLITE_Q_JOB_HOLDER, unique_key), id, held);
}

pawl_status jobs_insert(struct jobs_call *call, const struct job *in, enum store_answer *answer,
                        int64_t *id) {
    struct job job = *in;
    bool held = false;
    *answer = ANSWER_APPLIED;
    if (!str_absent(job.task))
        TRY(apply_task(call, &job, answer));
    if (*answer == ANSWER_APPLIED && !str_absent(job.unique_key))
        TRY(find_holder(call, job.unique_key, id, &held));
    if (held)
        *answer = ANSWER_DUPLICATE;
    if (*answer != ANSWER_APPLIED)
        return PAWL_OK;
    job.id = *id = ++call->last_job;
    call->changed = true;
    job.queue = jobs_queue(job.queue);
    if (str_absent(job.payload))
        job.payload = STR("{}");
    if (job.max_attempts == 0)
        job.max_attempts = PAWL_JOB_ATTEMPTS_DEFAULT;
    if (job.due_ms == 0)
        job.due_ms = call->op->now_ms;
    enum job_state state = job.due_ms <= call->op->now_ms ? JOB_READY : JOB_LATER;
    struct job_counts *counts = jobs_sums(call, job.queue);
    counts->put++;
    move_gauge(counts, (int)state, 1);
    struct stored_job row = {.row = {.job = job, .state = state},
                             .ord = jobrule_order(job.due_ms, job.priority)};
    row.row.job.put_ms = call->op->now_ms;
    return statement_run(SQL(call->op, SQLITE_Q_JOB_INSERT, ROW_OF(job_insert_shape, &row)));
}

pawl_status jobs_wake_wanted(struct operation *op) {
    return statement_any(SQL(op, SQLITE_Q_WAITER_FIND, KIND_BIT_JOBS, op->now_ms), &op->wake);
}

static struct job job_of(const struct job_new *in, int64_t now_ms) {
    return (struct job){.type = in->type,
                        .queue = in->queue,
                        .payload = in->payload,
                        .task = in->task,
                        .agent = in->agent,
                        .key = in->key,
                        .unique_key = in->unique_key,
                        .traceparent = in->traceparent,
                        .priority = in->priority,
                        .max_attempts = in->max_attempts,
                        .flags = in->flags,
                        .due_ms = in->due_ms != 0 ? in->due_ms : now_ms + in->delay_ms,
                        .deadline_ms = in->deadline_ms,
                        .timeout_ms = in->timeout_ms};
}

/* A caller that repeats its call needs the id as well; only a call with one job has it. */
static pawl_status request_job(struct operation *op, const struct jobs_enqueue *in, bool used, int64_t *id) {
    bool found = false;
    if (uuid_is_nil(in->request) || in->count != 1)
        return PAWL_OK;
    if (used)
        return statement_number(SQL(op, SQLITE_Q_REQUEST_JOB, in->request), id, &found);
    return *id != 0 ? statement_run(SQL(op, SQLITE_Q_REQUEST_JOB_SET, in->request, *id)) : PAWL_OK;
}

static pawl_status enqueue_in(struct jobs_call *call, const struct jobs_enqueue *in,
                              struct enqueue_result *result) {
    bool used = false;
    TRY(request_use(call->op, in->request, &used));
    for (size_t i = 0; i < in->count; i++) {
        struct job job = job_of(&in->jobs[i], call->op->now_ms);
        result->answers[i] = ANSWER_DUPLICATE;
        if (!used)
            TRY(jobs_insert(call, &job, &result->answers[i], &result->ids[i]));
    }
    TRY(request_job(call->op, in, used, &result->ids[0]));
    bool stored = false;
    for (size_t i = 0; i < in->count; i++)
        stored = stored || result->answers[i] == ANSWER_APPLIED || result->answers[i] == ANSWER_DUPLICATE;
    /* A call that stored nothing may be repeated: a missing scope may have been granted. */
    if (!stored)
        TRY(request_forget(call->op, in->request));
    if (stored && !used)
        TRY(jobs_wake_wanted(call->op));
    return PAWL_OK;
}

pawl_status jobs_enqueue_in(struct operation *op, const struct jobs_enqueue *in, struct arena *arena,
                            struct enqueue_result *out) {
    struct jobs_call call;
    struct enqueue_result result = {arena_array(arena, in->count, sizeof *result.answers),
                                    arena_array(arena, in->count, sizeof *result.ids)};
    pawl_status status = jobs_begin(&call, op, uuid_nil());
    if (status == PAWL_OK && (result.answers == NULL || result.ids == NULL))
        status = operation_no_memory(op);
    if (status == PAWL_OK && in->count > 0)
        status = enqueue_in(&call, in, &result);
    status = jobs_end(&call, status);
    if (status == PAWL_OK)
        *out = result;
    return status;
}

pawl_status sqlite_jobs_enqueue(struct store *store, const struct jobs_enqueue *in, struct arena *arena,
                                struct enqueue_result *out, pawl_error *err) {
    struct enqueue_result result = {0};
    struct operation op = operation_write(store, "jobs_enqueue", check_jobs_enqueue(in, err), err);
    return operation_give(&op, jobs_enqueue_in(&op, in, arena, &result), out, &result);
}
