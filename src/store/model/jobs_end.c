/* How executions end: finished, lost, cancelled; what stays of them, and dead letters that come back. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "domain/failure/fingerprint.h"
#include "domain/failure/retry.h"
#include "store/model/jobs.h"
#include "store/model/runs.h"

#define NONE ((pawl_str){NULL, 0})

void model_claim_leave(struct mclaim *claim, int64_t id, bool reported) {
    for (size_t i = 0; i < claim->ids.count; i++) {
        if (*PILE(claim->ids, int64_t, i) == id) {
            pile_drop(&claim->ids, i);
            break;
        }
    }
    if (reported)
        pile_add(&claim->done, &id);
    else
        claim->intact = false;
    if (claim->ids.count == 0)
        claim->active = false;
}

/* The lease of a running job is over, whatever comes next. */
void model_job_lease_end(struct model *model, struct mjob *job) {
    if (!str_absent(job->row.job.key))
        model_key_state(model->jobs, job->row.job.key)->running--;
}

static void clear_lease(struct mjob *job) {
    job->row.job.token = job->row.job.lease_until_ms = 0;
    job->row.job.flags &= ~JOB_BEGUN;
    job->row.instance = uuid_nil();
}

void model_job_die(struct model *model, struct mjob *job, enum job_dead_reason reason, pawl_str error) {
    char print[FINGERPRINT_BYTES];
    clear_lease(job);
    job->row.job.flags &= ~JOB_LOSS_FLAGS;
    if (!str_absent(error))
        job->row.error = model_keep(model->jobs, error);
    job->row.reason = (int)reason;
    job->row.died_ms = model->now_ms;
    job->row.fingerprint = model_keep(
        model->jobs, str_from(fingerprint(str_absent(job->row.error) ? STR("") : job->row.error, print)));
    model_job_state(model->jobs, job, JOB_DEAD);
    model_counts_of(model->jobs, job->row.job.queue)->died++;
    model_run_job_ended(model, &job->row.job, RUN_JOB_DEAD, job->row.error);
}

/* Ready when that is now, else later. */
static void requeue(struct model *model, struct mjob *job, int64_t due_ms) {
    clear_lease(job);
    job->row.job.due_ms = due_ms;
    job->ord = jobrule_order(due_ms, job->row.job.priority);
    model_job_state(model->jobs, job, due_ms <= model->now_ms ? JOB_READY : JOB_LATER);
}

static bool signal_take(struct model *model, const struct mjob *job, pawl_str wait_key, pawl_str wait_step) {
    struct model_jobs *jobs = model->jobs;
    for (size_t i = 0; i < jobs->signals.count; i++) {
        struct msignal signal = *PILE(jobs->signals, struct msignal, i);
        if (signal.expires_ms <= model->now_ms || !str_equal(signal.wait_key, wait_key))
            continue;
        pile_drop(&jobs->signals, i);
        (void)model_step_write(model, job->row.job.id,
                               &(struct job_step){.step = wait_step,
                                                  .state = JOB_STEP_DONE,
                                                  .attempt = JOB_STEP_WAIT_ATTEMPT,
                                                  .output = signal.payload});
        return true;
    }
    return false;
}

static void cancelled(struct model *model, struct mjob *job, const struct mend *end) {
    struct mend cancel = *end;
    cancel.outcome = RUN_CANCELLED;
    cancel.output = NONE;
    model_record_run(model, job, &cancel);
    model_counts_of(model->jobs, job->row.job.queue)->cancelled++;
    struct job gone = job->row.job;
    model_job_remove(model->jobs, job);
    model_run_job_ended(model, &gone, RUN_JOB_CANCELLED, NONE);
}

static enum job_result fail(struct model *model, struct mjob *job, const struct finish_item *item,
                            struct mend *end) {
    struct retry_policy policy = retry_policy_default();
    int64_t delay_ms = item->delay_ms;
    if (delay_ms < 0) {
        uint64_t random = 0;
        pawl_status status = random_bytes(&random, sizeof random, NULL);
        assert(status == PAWL_OK);
        (void)status;
        delay_ms = retry_wait_ms(&policy, job->row.job.attempts, random);
    }
    const struct job *j = &job->row.job;
    int64_t due_ms = model->now_ms + delay_ms;
    int reason = item->refused                                    ? JOB_DEAD_REFUSED
                 : item->error_class == CLASS_PERMANENT           ? JOB_DEAD_PERMANENT
                 : j->attempts >= j->max_attempts                 ? JOB_DEAD_ATTEMPTS
                 : j->deadline_ms > 0 && due_ms >= j->deadline_ms ? JOB_DEAD_DEADLINE
                                                                  : 0;
    end->outcome = reason != 0 ? RUN_DEAD : RUN_FAILED;
    end->output = NONE;
    model_record_run(model, job, end);
    if (reason == JOB_DEAD_REFUSED) {
        const struct task *task =
            !str_absent(j->agent) || str_absent(j->task) ? NULL : model_task_find(model->jobs, j->task);
        model_refuse(model, task != NULL ? task->agent : j->agent, j->task,
                     str_absent(end->error) ? STR("") : end->error, j->id);
    }
    if (reason != 0) {
        model_job_die(model, job, (enum job_dead_reason)reason, end->error);
        return JOB_RESULT_DEAD;
    }
    if (!str_absent(end->error))
        job->row.error = model_keep(model->jobs, end->error);
    model_counts_of(model->jobs, j->queue)->failed++;
    requeue(model, job, due_ms);
    return JOB_RESULT_RETRY;
}

/* One item that is held. */
static enum job_result end_one(struct model *model, struct mjob *job, const struct finish_item *item,
                               pawl_uuid instance) {
    struct mend end = {.outcome = RUN_SUCCEEDED,
                       .instance = instance,
                       .duration_ms = item->duration_ms,
                       .output = item->output,
                       .error = utf8_cut(item->error, PAWL_ERROR_BYTES_MAX),
                       .steps = item->steps,
                       .input_hash = item->input_hash,
                       .output_hash = item->output_hash};
    model_job_lease_end(model, job);
    if (item->outcome == JOB_COMPLETE) {
        end.error = NONE;
        model_record_run(model, job, &end);
        model_counts_of(model->jobs, job->row.job.queue)->done++;
        struct job gone = job->row.job;
        model_job_remove(model->jobs, job);
        model_run_job_ended(model, &gone, RUN_JOB_COMPLETED, NONE);
        return JOB_RESULT_NONE;
    }
    if (job->row.job.cancel_ms > 0) {
        end.error = job_cancel_error(end.error, model->jobs->texts);
        cancelled(model, job, &end);
        return JOB_RESULT_CANCELLED;
    }
    if (item->outcome != JOB_RELEASE)
        job->row.job.flags &= ~JOB_LOSS_FLAGS;
    if (item->outcome == JOB_FAIL)
        return fail(model, job, item, &end);
    job->row.job.attempts--;
    if (item->outcome != JOB_WAIT) {
        requeue(model, job, model->now_ms + item->delay_ms);
    } else if (signal_take(model, job, item->wait_key, item->wait_step)) {
        requeue(model, job, model->now_ms);
    } else {
        requeue(model, job, item->delay_ms < 0 ? JOBRULE_NEVER : model->now_ms + item->delay_ms);
        job->row.wait_key = model_keep(model->jobs, item->wait_key);
        job->row.wait_step = model_keep(model->jobs, item->wait_step);
        model_job_state(model->jobs, job, JOB_WAITING);
    }
    return JOB_RESULT_NONE;
}

static bool done_before(const struct mclaim *claim, int64_t id) {
    for (size_t i = 0; i < claim->done.count; i++)
        if (*PILE(claim->done, int64_t, i) == id)
            return true;
    return false;
}

/* Claims that this call ended whole forget their lists. */
static void forget_whole(struct model *model, const struct jobs_finish *in, const size_t *done_before_call) {
    for (size_t i = 0; i < in->count; i++) {
        struct mclaim *claim = model_claim_find(model->jobs, in->items[i].ref.token);
        if (claim != NULL && !claim->active && claim->intact && done_before_call[i] == 0 &&
            uuid_equal(claim->instance, in->instance))
            claim->forgot = true;
    }
}

static void finish_items(struct model *model, const struct jobs_finish *in, struct finish_result *result) {
    size_t *done = model_alloc((in->count + 1) * sizeof *done);
    for (size_t i = 0; i < in->count; i++) {
        const struct mclaim *claim = model_claim_find(model->jobs, in->items[i].ref.token);
        done[i] = claim != NULL ? claim->done.count : 0;
    }
    size_t *order = model_alloc((in->count + 1) * sizeof *order);
    jobs_finish_order(in, order);
    for (size_t n = 0; n < in->count; n++) {
        size_t i = order[n];
        const struct job_ref ref = in->items[i].ref;
        struct mclaim *claim = model_claim_find(model->jobs, ref.token);
        struct mjob *job = model_job_find(model->jobs, ref.id);
        bool mine = claim != NULL && uuid_equal(claim->instance, in->instance);
        if (mine && claim->active && job != NULL && job->row.job.token == ref.token) {
            result->answers[i] = ANSWER_APPLIED;
            model_claim_leave(claim, ref.id, true);
            result->results[i] = end_one(model, job, &in->items[i], in->instance);
        } else if (mine && (claim->forgot || done_before(claim, ref.id))) {
            result->answers[i] = ANSWER_DUPLICATE;
        } else {
            result->answers[i] = ANSWER_STALE;
            model_counts_of(model->jobs, claim != NULL ? claim->queue : STR("default"))->stale++;
        }
    }
    forget_whole(model, in, done);
    free(done);
    free(order);
    model_audit_seal(model, in->instance);
}

enum store_answer model_finish_one(struct model *model, pawl_uuid instance, const struct finish_item *item) {
    enum store_answer answer = ANSWER_STALE;
    enum job_result result = JOB_RESULT_NONE;
    struct finish_result into = {.answers = &answer, .results = &result, .count = 1};
    finish_items(model, &(struct jobs_finish){.instance = instance, .items = item, .count = 1}, &into);
    return answer;
}

bool model_job_held(struct model *model, pawl_uuid instance, struct job_ref ref) {
    const struct mclaim *claim = model_claim_find(model->jobs, ref.token);
    const struct mjob *job = model_job_find(model->jobs, ref.id);
    return claim != NULL && claim->active && uuid_equal(claim->instance, instance) && job != NULL &&
           job->row.job.token == ref.token;
}

pawl_status model_jobs_finish(struct store *store, const struct jobs_finish *in, struct arena *arena,
                              struct finish_result *out, pawl_error *err) {
    struct finish_result result = {.count = in->count};
    pawl_status status = check_jobs_finish(in, err);
    if (status != PAWL_OK)
        return status;
    result.answers = arena_array(arena, in->count, sizeof *result.answers);
    result.results = arena_array(arena, in->count, sizeof *result.results);
    if (result.answers == NULL || result.results == NULL)
        return error_set(err, PAWL_NO_MEMORY, "jobs_finish", "no memory for %zu answers", in->count);
    struct model *model = model_enter(store);
    const struct instance *instance = model_instance_find(model, in->instance);
    if (in->claim.max > 0 && (instance == NULL || !model_instance_live(model, instance)))
        return model_leave(model, error_set(err, PAWL_STALE, "jobs_finish",
                                            "this instance was evicted or has fallen silent: register anew"));
    finish_items(model, in, &result);
    if (in->claim.max > 0) {
        struct jobs_claim claim = in->claim;
        claim.instance = in->instance;
        result.jobs = model_claim_jobs(model, &claim, arena);
    }
    *out = result;
    return model_leave(model, PAWL_OK);
}

/* An execution that ended with its lease or its worker. */
static void lose(struct model *model, struct mjob *job, pawl_uuid instance) {
    struct mend end = {.outcome = RUN_LOST, .instance = instance};
    struct job *j = &job->row.job;
    const struct instance *holder = model_instance_find(model, instance);
    bool began = holder == NULL || holder->slots == 0 || (j->flags & JOB_BEGUN) != 0;
    model_counts_of(model->jobs, j->queue)->lost++;
    if (j->cancel_ms > 0) {
        cancelled(model, job, &end);
        return;
    }
    int reason = began && j->attempts >= j->max_attempts                 ? JOB_DEAD_KILLED
                 : j->deadline_ms > 0 && j->deadline_ms <= model->now_ms ? JOB_DEAD_DEADLINE
                                                                         : 0;
    if (reason != 0)
        end.outcome = RUN_DEAD;
    model_record_run(model, job, &end);
    if (reason != 0) {
        model_job_die(model, job, (enum job_dead_reason)reason, NONE);
    } else {
        clear_lease(job);
        j->attempts -= !began;
        if (!began)
            j->flags |= (j->flags & JOB_LOST) != 0 ? JOB_SUSPECT : JOB_LOST;
        model_job_state(model->jobs, job, JOB_READY);
    }
}

static int by_number(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

void model_claim_lose(struct model *model, struct mclaim *claim, bool all, bool give_back, pawl_uuid caller) {
    struct model_jobs *jobs = model->jobs;
    size_t count = claim->ids.count;
    int64_t *ids = model_alloc((count + 1) * sizeof *ids);
    if (count > 0)
        memcpy(ids, claim->ids.items, count * sizeof *ids);
    qsort(ids, count, sizeof *ids, by_number);
    int64_t check_ms = INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        struct mjob *job = model_job_find(jobs, ids[i]);
        assert(job != NULL);
        if (!all && job->row.job.lease_until_ms > model->now_ms) {
            check_ms = job->row.job.lease_until_ms < check_ms ? job->row.job.lease_until_ms : check_ms;
            continue;
        }
        model_claim_leave(claim, ids[i], false);
        model_job_lease_end(model, job);
        if (give_back && job->row.job.cancel_ms == 0) {
            job->row.job.attempts--;
            requeue(model, job, model->now_ms);
        } else {
            lose(model, job, claim->instance);
        }
    }
    claim->check_ms = check_ms;
    free(ids);
    model_audit_seal(model, caller);
}

void model_jobs_instance_end(struct model *model, pawl_uuid instance, bool goodbye) {
    struct model_jobs *jobs = model->jobs;
    for (size_t i = 0; i < jobs->claims.count; i++) {
        struct mclaim *claim = PILE(jobs->claims, struct mclaim, i);
        if (claim->active && uuid_equal(claim->instance, instance))
            model_claim_lose(model, claim, true, goodbye, instance);
    }
}

pawl_status model_jobs_renew(struct store *store, const struct jobs_renew *in, struct arena *arena,
                             struct renew_result *out, pawl_error *err) {
    struct renew_result result = {.count = in->count};
    pawl_status status = check_jobs_renew(in, err);
    if (status != PAWL_OK)
        return status;
    result.answers = arena_array(arena, in->count, sizeof *result.answers);
    result.cancel = arena_array(arena, in->count, sizeof *result.cancel);
    if (result.answers == NULL || result.cancel == NULL)
        return error_set(err, PAWL_NO_MEMORY, "jobs_renew", "no memory for %zu answers", in->count);
    struct model *model = model_enter(store);
    for (size_t i = 0; i < in->count; i++) {
        const struct job_ref ref = in->items[i].ref;
        struct mclaim *claim = model_claim_find(model->jobs, ref.token);
        result.answers[i] = ANSWER_STALE;
        if (claim == NULL || !claim->active || !uuid_equal(claim->instance, in->instance))
            continue;
        for (size_t n = 0; n < claim->ids.count; n++) {
            int64_t id = *PILE(claim->ids, int64_t, n);
            struct mjob *job = ref.id == 0 || ref.id == id ? model_job_find(model->jobs, id) : NULL;
            if (job == NULL)
                continue;
            result.answers[i] = ANSWER_APPLIED;
            result.cancel[i] = result.cancel[i] || job->row.job.cancel_ms > 0;
            job->row.job.lease_until_ms = model->now_ms + in->lease_ms;
            job->row.job.flags |= JOB_BEGUN;
            if (!str_absent(in->items[i].progress))
                job->row.job.progress = model_keep(model->jobs, in->items[i].progress);
            if (job->row.job.lease_until_ms < claim->check_ms)
                claim->check_ms = job->row.job.lease_until_ms;
        }
    }
    *out = result;
    return model_leave(model, PAWL_OK);
}

static size_t *sorted_ids(const int64_t *ids, size_t count) {
    size_t *order = model_alloc((count + 1) * sizeof *order);
    for (size_t i = 0; i < count; i++) {
        size_t at = i;
        for (; at > 0 && ids[order[at - 1]] > ids[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return order;
}

static void stop(struct model *model, struct mjob *job) {
    if (job->row.state != JOB_RUNNING)
        cancelled(model, job, &(struct mend){.outcome = RUN_CANCELLED});
    else if (job->row.job.cancel_ms == 0)
        job->row.job.cancel_ms = model->now_ms;
}

pawl_status model_jobs_cancel(struct store *store, const int64_t *ids, size_t count, struct arena *arena,
                              struct job_answers *out, pawl_error *err) {
    pawl_status status = check_job_ids("jobs_cancel", ids, count, err);
    if (status != PAWL_OK)
        return status;
    enum store_answer *answers = arena_array(arena, count, sizeof *answers);
    if (answers == NULL)
        return error_set(err, PAWL_NO_MEMORY, "jobs_cancel", "no memory for %zu answers", count);
    struct model *model = model_enter(store);
    size_t *order = sorted_ids(ids, count);
    for (size_t i = 0; i < count; i++) {
        struct mjob *job = model_job_find(model->jobs, ids[order[i]]);
        bool found = job != NULL && job->row.state != JOB_DEAD;
        answers[order[i]] = found ? ANSWER_APPLIED : ANSWER_NOT_FOUND;
        if (!found)
            continue;
        stop(model, job);
    }
    free(order);
    model_audit_seal(model, uuid_nil());
    *out = (struct job_answers){answers, count};
    return model_leave(model, PAWL_OK);
}

static bool unique_taken(struct model_jobs *jobs, const struct mjob *dead) {
    for (size_t i = 0; i < jobs->jobs.count; i++) {
        const struct mjob *job = PILE(jobs->jobs, struct mjob, i);
        if (job->row.state != JOB_DEAD && !str_absent(job->row.job.unique_key) &&
            str_equal(job->row.job.unique_key, dead->row.job.unique_key))
            return true;
    }
    return false;
}

static enum store_answer redrive(struct model *model, struct mjob *job, bool discard) {
    struct model_jobs *jobs = model->jobs;
    if (job == NULL || job->row.state != JOB_DEAD)
        return ANSWER_NOT_FOUND;
    struct job_counts *counts = model_counts_of(jobs, job->row.job.queue);
    if (discard) {
        counts->discarded++;
        model_job_remove(jobs, job);
        return ANSWER_APPLIED;
    }
    if (!str_absent(job->row.job.unique_key) && unique_taken(jobs, job))
        return ANSWER_CONFLICT;
    counts->redriven++;
    job->row.job.attempts = 0;
    job->row.job.cancel_ms = job->row.job.deadline_ms = 0;
    job->row.reason = 0;
    job->row.died_ms = 0;
    job->row.fingerprint = NONE;
    requeue(model, job, model->now_ms);
    return ANSWER_APPLIED;
}

void model_job_drop(struct model *model, int64_t id) {
    struct mjob *job = model_job_find(model->jobs, id);
    if (job == NULL)
        return;
    if (job->row.state == JOB_DEAD)
        (void)redrive(model, job, true);
    else
        stop(model, job);
}

pawl_status model_jobs_redrive(struct store *store, const int64_t *ids, size_t count, bool discard,
                               struct arena *arena, struct job_answers *out, pawl_error *err) {
    pawl_status status = check_job_ids("jobs_redrive", ids, count, err);
    if (status != PAWL_OK)
        return status;
    enum store_answer *answers = arena_array(arena, count, sizeof *answers);
    if (answers == NULL)
        return error_set(err, PAWL_NO_MEMORY, "jobs_redrive", "no memory for %zu answers", count);
    struct model *model = model_enter(store);
    size_t *order = sorted_ids(ids, count);
    for (size_t i = 0; i < count; i++)
        answers[order[i]] = redrive(model, model_job_find(model->jobs, ids[order[i]]), discard);
    free(order);
    *out = (struct job_answers){answers, count};
    return model_leave(model, PAWL_OK);
}
