/* Reports on jobs on SQLite: complete, fail, snooze, release, wait, renew. */
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "domain/failure/retry.h"
#include "store/sqlite/jobs/jobs.h"
#include "store/sqlite/runs/runs.h"

#define NONE ((pawl_str){NULL, 0})

/* Ready when that is now, else later. */
static pawl_status requeue(struct jobs_call *call, struct stored_job *job, int64_t due_ms) {
    struct job *j = &job->row.job;
    j->token = j->lease_until_ms = 0;
    j->due_ms = due_ms;
    job->ord = jobrule_order(due_ms, j->priority);
    bool waits = !str_absent(job->row.wait_key);
    return jobs_move(call, job, waits ? JOB_WAITING : due_ms <= call->op->now_ms ? JOB_READY : JOB_LATER);
}

/* How long to wait after a failed attempt. */
static pawl_status delay_of(struct jobs_call *call, const struct finish_item *item, int attempts,
                            int64_t *delay_ms) {
    struct retry_policy policy = retry_policy_default();
    uint64_t random = 0;
    *delay_ms = item->delay_ms;
    if (item->delay_ms >= 0)
        return PAWL_OK;
    TRY(random_bytes(&random, sizeof random, call->op->err));
    *delay_ms = retry_wait_ms(&policy, attempts, random);
    return PAWL_OK;
}

static pawl_status note_refusal(struct jobs_call *call, const struct job *job, pawl_str error) {
    struct task task = {0};
    bool found = false;
    if (str_absent(job->agent) && !str_absent(job->task))
        TRY(jobs_task_find(call->op, job->task, &task, &found));
    return jobs_refuse(call->op, found ? task.agent : job->agent, job->task,
                       str_absent(error) ? STR("") : error, job->id);
}

static pawl_status fail(struct jobs_call *call, struct stored_job *job, const struct finish_item *item,
                        struct job_end *end, enum job_result *result) {
    struct job *j = &job->row.job;
    int64_t delay_ms = 0;
    TRY(delay_of(call, item, j->attempts, &delay_ms));
    int64_t due_ms = call->op->now_ms + delay_ms;
    int reason = item->refused                                    ? JOB_DEAD_REFUSED
                 : item->error_class == CLASS_PERMANENT           ? JOB_DEAD_PERMANENT
                 : j->attempts >= j->max_attempts                 ? JOB_DEAD_ATTEMPTS
                 : j->deadline_ms > 0 && due_ms >= j->deadline_ms ? JOB_DEAD_DEADLINE
                                                                  : 0;
    end->outcome = reason != 0 ? RUN_DEAD : RUN_FAILED;
    end->output = NONE;
    *result = reason != 0 ? JOB_RESULT_DEAD : JOB_RESULT_RETRY;
    TRY(jobs_record(call, j, end));
    if (reason == JOB_DEAD_REFUSED)
        TRY(note_refusal(call, j, end->error));
    if (reason != 0)
        return jobs_die(call, job, (enum job_dead_reason)reason, end->error);
    if (!str_absent(end->error))
        job->row.error = end->error;
    jobs_sums(call, j->queue)->failed++;
    return requeue(call, job, due_ms);
}

/* The oldest signal that is kept for the key becomes the output of the step; *taken false when there is none.
 */
static pawl_status signal_take(struct jobs_call *call, const struct stored_job *job,
                               const struct finish_item *item, bool *taken) {
    struct statement s = SQL(call->op, SQLITE_Q_JOB_SIGNAL_OLDEST, item->wait_key, call->op->now_ms);
    int64_t id = 0;
    pawl_str payload = NONE;
    *taken = statement_next(&s);
    if (*taken) {
        id = column_int(&s, 0);
        payload = column_copy(&s, 1, call->op->scratch);
    }
    TRY(statement_end(&s));
    if (!*taken)
        return PAWL_OK;
    TRY(statement_run(SQL(call->op, SQLITE_Q_JOB_SIGNAL_DELETE, id)));
    enum store_answer answer;
    struct job_step step = {
        .step = item->wait_step, .state = JOB_STEP_DONE, .attempt = JOB_STEP_WAIT_ATTEMPT, .output = payload};
    return jobs_step_write(call->op, job->row.job.id, &step, &answer);
}

static pawl_status wait_for(struct jobs_call *call, struct stored_job *job, const struct finish_item *item) {
    bool taken = false;
    TRY(signal_take(call, job, item, &taken));
    if (taken)
        return requeue(call, job, call->op->now_ms);
    job->row.wait_key = item->wait_key;
    job->row.wait_step = item->wait_step;
    return requeue(call, job, item->delay_ms < 0 ? JOBRULE_NEVER : call->op->now_ms + item->delay_ms);
}

/* One item that is held. */
static pawl_status end_one(struct jobs_call *call, struct stored_job *job, const struct finish_item *item,
                           enum job_result *result) {
    struct job_end end = {.outcome = RUN_SUCCEEDED,
                          .instance = call->chain,
                          .duration_ms = item->duration_ms,
                          .output = item->output,
                          .error = utf8_cut(item->error, PAWL_ERROR_BYTES_MAX),
                          .steps = item->steps,
                          .input_hash = item->input_hash,
                          .output_hash = item->output_hash};
    pawl_status status = jobs_key_free(call->op, job->row.job.key);
    if (status != PAWL_OK)
        return status;
    *result = JOB_RESULT_NONE;
    if (item->outcome == JOB_COMPLETE || job->row.job.cancel_ms > 0) {
        struct job_counts *counts = jobs_sums(call, job->row.job.queue);
        if (item->outcome == JOB_COMPLETE) {
            counts->done++;
            end.error = NONE;
        } else {
            counts->cancelled++;
            end.outcome = RUN_CANCELLED;
            end.output = NONE;
            end.error = job_cancel_error(end.error, call->op->scratch);
            *result = JOB_RESULT_CANCELLED;
        }
        bool completed = item->outcome == JOB_COMPLETE;
        status = jobs_record(call, &job->row.job, &end);
        if (status == PAWL_OK)
            status = jobs_remove(call, job);
        return status == PAWL_OK ? runs_job_ended(call, &job->row.job,
                                                  completed ? RUN_JOB_COMPLETED : RUN_JOB_CANCELLED, NONE)
                                 : status;
    }
    /* A job that is reported did not kill its worker. */
    job->row.job.flags &= item->outcome == JOB_RELEASE ? ~JOB_BEGUN : ~JOB_LOSS_FLAGS;
    if (item->outcome == JOB_FAIL)
        return fail(call, job, item, &end, result);
    job->row.job.attempts--;
    if (item->outcome == JOB_WAIT)
        return wait_for(call, job, item);
    if (item->outcome == JOB_RELEASE && !str_absent(end.error))
        job->row.error = end.error;
    return requeue(call, job, call->op->now_ms + item->delay_ms);
}

/* What this call did under one token. */
struct touched {
    struct job_claim claim;
    bool found, fresh; /* fresh: nothing was reported under it before this call */
    size_t *items;
    size_t count;
};

static pawl_status reported_before(struct jobs_call *call, int64_t token, int64_t id, bool *before) {
    return statement_any(SQL(call->op, SQLITE_Q_JOB_DONE_FIND, token, id), before);
}

static pawl_status touched_load(struct jobs_call *call, int64_t token, size_t room, struct touched *t) {
    bool any = false;
    *t = (struct touched){.items = arena_array(call->op->scratch, room, sizeof *t->items)};
    if (t->items == NULL)
        return operation_no_memory(call->op);
    TRY(jobs_claim_find(call->op, token, &t->claim, &t->found));
    if (!t->found)
        return PAWL_OK;
    TRY(statement_any(SQL(call->op, SQLITE_Q_JOB_DONE_ANY, token), &any));
    t->fresh = !any && !t->claim.forgot;
    return PAWL_OK;
}

/* The claim after the call: still active, done with its list, or done and forgotten. */
static pawl_status touched_save(struct jobs_call *call, struct touched *t, const struct finish_item *items) {
    struct id_list left = {NULL, 0};
    if (t->count == 0)
        return PAWL_OK;
    TRY(jobs_ids(SQL(call->op, SQLITE_Q_JOB_LIST_TOKEN, t->claim.token), call->op->scratch, &left));
    t->claim.active = left.count > 0;
    t->claim.forgot = !t->claim.active && t->claim.intact && t->fresh;
    for (size_t i = 0; !t->claim.forgot && i < t->count; i++)
        TRY(statement_run(
            SQL(call->op, SQLITE_Q_JOB_DONE_INSERT, t->claim.token, items[t->items[i]].ref.id)));
    return jobs_claim_set(call->op, &t->claim);
}

static bool named_before(const struct touched *t, const struct finish_item *items, int64_t id) {
    for (size_t i = 0; i < t->count; i++)
        if (items[t->items[i]].ref.id == id)
            return true;
    return false;
}

static pawl_status report(struct jobs_call *call, const struct jobs_finish *in, size_t i, struct touched *t,
                          struct finish_result *result) {
    const struct job_ref ref = in->items[i].ref;
    struct stored_job job;
    bool found = false, before = false;
    bool mine = t->found && uuid_equal(t->claim.instance, in->instance);
    if (mine && t->claim.active)
        TRY(jobs_brief(call, ref.id, &job, &found));
    if (found && job.row.job.token == ref.token && job.row.state == JOB_RUNNING) {
        result->answers[i] = ANSWER_APPLIED;
        t->items[t->count++] = i;
        return end_one(call, &job, &in->items[i], &result->results[i]);
    }
    before = mine && (t->claim.forgot || named_before(t, in->items, ref.id));
    if (mine && !before)
        TRY(reported_before(call, ref.token, ref.id, &before));
    result->answers[i] = before ? ANSWER_DUPLICATE : ANSWER_STALE;
    if (!before)
        jobs_sums(call, t->found ? t->claim.queue : STR("default"))->stale++;
    return PAWL_OK;
}

/* All items, token by token as they come: most calls name one. */
static pawl_status finish_items(struct jobs_call *call, const struct jobs_finish *in,
                                struct finish_result *result) {
    struct touched *tokens = arena_array(call->op->scratch, in->count, sizeof *tokens);
    int64_t *names = arena_array(call->op->scratch, in->count, sizeof *names);
    size_t *order = arena_array(call->op->scratch, in->count, sizeof *order);
    size_t count = 0, at = 0;
    if (tokens == NULL || names == NULL || order == NULL)
        return operation_no_memory(call->op);
    jobs_finish_order(in, order);
    for (size_t n = 0; n < in->count; n++) {
        size_t i = order[n];
        int64_t token = in->items[i].ref.token;
        if (count == 0 || names[at] != token)
            for (at = 0; at < count && names[at] != token; at++)
                continue;
        if (at == count) {
            names[count++] = token;
            TRY(touched_load(call, token, in->count, &tokens[at]));
        }
        TRY(report(call, in, i, &tokens[at], result));
    }
    for (size_t i = 0; i < count; i++)
        TRY(touched_save(call, &tokens[i], in->items));
    return jobs_seal(call);
}

pawl_status jobs_report_one(struct jobs_call *call, const struct finish_item *item,
                            enum store_answer *answer) {
    enum job_result ignored = JOB_RESULT_NONE;
    struct jobs_finish in = {.instance = call->chain, .items = item, .count = 1};
    struct finish_result result = {.answers = answer, .results = &ignored, .count = 1};
    return finish_items(call, &in, &result);
}

pawl_status jobs_held(struct jobs_call *call, struct job_ref ref, bool *held) {
    struct job_claim claim;
    struct stored_job job;
    bool found = false;
    *held = false;
    TRY(jobs_claim_find(call->op, ref.token, &claim, &found));
    if (!found || !claim.active || !uuid_equal(claim.instance, call->chain))
        return PAWL_OK;
    TRY(jobs_brief(call, ref.id, &job, &found));
    *held = found && job.row.state == JOB_RUNNING && job.row.job.token == ref.token;
    return PAWL_OK;
}

pawl_status jobs_finish_in(struct operation *op, const struct jobs_finish *in, struct arena *arena,
                           struct finish_result *out) {
    struct jobs_call call;
    struct finish_result result = {.count = in->count};
    result.answers = arena_array(arena, in->count, sizeof *result.answers);
    result.results = arena_array(arena, in->count, sizeof *result.results);
    pawl_status status = jobs_begin(&call, op, in->instance);
    if (status == PAWL_OK && (result.answers == NULL || result.results == NULL))
        status = operation_no_memory(op);
    if (status == PAWL_OK)
        status = finish_items(&call, in, &result);
    if (status == PAWL_OK && in->claim.max > 0) {
        struct jobs_claim claim = in->claim;
        claim.instance = in->instance;
        status = jobs_claim_in(&call, &claim, arena, &result.jobs);
    }
    status = jobs_end(&call, status);
    if (status == PAWL_OK)
        *out = result;
    return status;
}

pawl_status sqlite_jobs_finish(struct store *store, const struct jobs_finish *in, struct arena *arena,
                               struct finish_result *out, pawl_error *err) {
    struct finish_result result = {0};
    struct operation op = operation_write(store, "jobs_finish", check_jobs_finish(in, err), err);
    return operation_give(&op, jobs_finish_in(&op, in, arena, &result), out, &result);
}

static pawl_status renew_one(struct jobs_call *call, const struct stored_job *job,
                             const struct renew_item *item, int64_t lease_ms) {
    return statement_run(
        SQL(call->op, SQLITE_Q_JOB_RENEW, job->row.job.id, call->op->now_ms + lease_ms, item->progress));
}

static pawl_status renew_item(struct jobs_call *call, const struct jobs_renew *in, size_t i,
                              struct renew_result *result) {
    const struct renew_item *item = &in->items[i];
    struct job_claim claim;
    struct id_list ids = {(int64_t *)&item->ref.id, 1};
    bool found = false;
    result->answers[i] = ANSWER_STALE;
    pawl_status status = jobs_claim_find(call->op, item->ref.token, &claim, &found);
    if (status != PAWL_OK || !found || !claim.active || !uuid_equal(claim.instance, in->instance))
        return status;
    if (item->ref.id == 0)
        status = jobs_ids(SQL(call->op, SQLITE_Q_JOB_LIST_TOKEN, item->ref.token), call->op->scratch, &ids);
    for (size_t n = 0; status == PAWL_OK && n < ids.count; n++) {
        struct stored_job job;
        status = jobs_brief(call, ids.ids[n], &job, &found);
        if (status != PAWL_OK || !found || job.row.state != JOB_RUNNING ||
            job.row.job.token != item->ref.token)
            continue;
        result->answers[i] = ANSWER_APPLIED;
        result->cancel[i] = result->cancel[i] || job.row.job.cancel_ms > 0;
        status = renew_one(call, &job, item, in->lease_ms);
    }
    if (status == PAWL_OK && result->answers[i] == ANSWER_APPLIED &&
        call->op->now_ms + in->lease_ms < claim.check_ms) {
        claim.check_ms = call->op->now_ms + in->lease_ms;
        status = jobs_claim_set(call->op, &claim);
    }
    return status;
}

pawl_status sqlite_jobs_renew(struct store *store, const struct jobs_renew *in, struct arena *arena,
                              struct renew_result *out, pawl_error *err) {
    struct jobs_call call;
    struct renew_result result = {.count = in->count};
    pawl_status status =
        jobs_call_begin(&call, store, "jobs_renew", in->instance, check_jobs_renew(in, err), err);
    if (status != PAWL_OK)
        return status;
    result.answers = arena_array(arena, in->count, sizeof *result.answers);
    result.cancel = arena_array(arena, in->count, sizeof *result.cancel);
    if (result.answers == NULL || result.cancel == NULL)
        status = operation_no_memory(call.op);
    for (size_t i = 0; status == PAWL_OK && i < in->count; i++)
        status = renew_item(&call, in, i, &result);
    return jobs_give(&call, status, out, &result);
}
