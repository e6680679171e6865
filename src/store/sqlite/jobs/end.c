/* Ending jobs without a report on SQLite: lost, cancelled, redriven, discarded. */
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "domain/failure/fingerprint.h"
#include "store/sqlite/jobs/jobs.h"
#include "store/sqlite/runs/runs.h"

#define NONE ((pawl_str){NULL, 0})

LOCAL_SHAPE(claim, struct job_claim, M(token), M(instance), M(queue), M(check_ms), M(active), M(intact),
            M(forgot), M(tells));

pawl_status jobs_claim_find(struct operation *op, int64_t token, struct job_claim *claim, bool *found) {
    return row_find(SQL(op, SQLITE_Q_JOB_CLAIM_FIND, token), &claim_shape, op->scratch, claim, found);
}

pawl_status jobs_claim_set(struct operation *op, const struct job_claim *claim) {
    return statement_run(SQL(op, SQLITE_Q_JOB_CLAIM_SET, claim->token, claim->check_ms, claim->active,
                             claim->intact, claim->forgot));
}

pawl_status jobs_die(struct jobs_call *call, struct stored_job *job, enum job_dead_reason reason,
                     pawl_str error) {
    char print[FINGERPRINT_BYTES];
    struct job_row *row = &job->row;
    if (!str_absent(error))
        row->error = error;
    row->job.token = row->job.lease_until_ms = 0;
    row->job.flags &= ~JOB_LOSS_FLAGS; /* a redrive starts over */
    row->reason = (int)reason;
    row->died_ms = call->op->now_ms;
    row->fingerprint = str_from(fingerprint(str_absent(row->error) ? STR("") : row->error, print));
    jobs_sums(call, row->job.queue)->died++;
    TRY(jobs_move(call, job, JOB_DEAD));
    return runs_job_ended(call, &row->job, RUN_JOB_DEAD, row->error);
}

static pawl_status cancelled(struct jobs_call *call, const struct stored_job *job, pawl_uuid instance) {
    struct job_end end = {.outcome = RUN_CANCELLED, .instance = instance};
    TRY(jobs_record(call, &job->row.job, &end));
    jobs_sums(call, job->row.job.queue)->cancelled++;
    TRY(jobs_remove(call, job));
    return runs_job_ended(call, &job->row.job, RUN_JOB_CANCELLED, NONE);
}

/* An execution that ended with its lease or its worker: an attempt, when it began. */
static pawl_status lose(struct jobs_call *call, struct stored_job *job, const struct job_claim *claim) {
    struct job *j = &job->row.job;
    pawl_uuid instance = claim->instance;
    bool began = !claim->tells || (j->flags & JOB_BEGUN) != 0;
    jobs_sums(call, j->queue)->lost++;
    if (j->cancel_ms > 0)
        return cancelled(call, job, instance);
    int reason = began && j->attempts >= j->max_attempts                    ? JOB_DEAD_KILLED
                 : j->deadline_ms > 0 && j->deadline_ms <= call->op->now_ms ? JOB_DEAD_DEADLINE
                                                                            : 0;
    struct job_end end = {.outcome = reason != 0 ? RUN_DEAD : RUN_LOST, .instance = instance};
    TRY(jobs_record(call, j, &end));
    if (reason != 0)
        return jobs_die(call, job, (enum job_dead_reason)reason, NONE);
    j->token = j->lease_until_ms = 0;
    j->attempts -= !began;
    if (!began)
        j->flags |= (j->flags & JOB_LOST) != 0 ? JOB_SUSPECT : JOB_LOST;
    j->flags &= ~JOB_BEGUN;
    return jobs_move(call, job, JOB_READY);
}

static pawl_status give_back(struct jobs_call *call, struct stored_job *job) {
    struct job *j = &job->row.job;
    j->token = j->lease_until_ms = 0;
    j->attempts--;
    j->flags &= ~JOB_BEGUN;
    j->due_ms = call->op->now_ms;
    job->ord = jobrule_order(j->due_ms, j->priority);
    return jobs_move(call, job, JOB_READY);
}

static pawl_status token_jobs(struct jobs_call *call, int64_t token, struct id_list *list) {
    return jobs_ids(SQL(call->op, SQLITE_Q_JOB_LIST_TOKEN, token), call->op->scratch, list);
}

pawl_status jobs_claim_lose(struct jobs_call *call, int64_t token, bool all, bool returned) {
    struct job_claim claim;
    struct id_list ids = {NULL, 0};
    bool found = false;
    pawl_status status = jobs_claim_find(call->op, token, &claim, &found);
    if (status != PAWL_OK || !found)
        return status;
    status = token_jobs(call, token, &ids);
    claim.active = false;
    claim.check_ms = INT64_MAX;
    for (size_t i = 0; status == PAWL_OK && i < ids.count; i++) {
        struct stored_job job;
        status = jobs_brief(call, ids.ids[i], &job, &found);
        if (status != PAWL_OK || !found)
            continue;
        if (!all && job.row.job.lease_until_ms > call->op->now_ms) {
            claim.active = true;
            if (job.row.job.lease_until_ms < claim.check_ms)
                claim.check_ms = job.row.job.lease_until_ms;
            continue;
        }
        claim.intact = false;
        status = jobs_key_free(call->op, job.row.job.key);
        if (status == PAWL_OK)
            status = returned && job.row.job.cancel_ms == 0 ? give_back(call, &job)
                                                            : lose(call, &job, &claim);
    }
    /* Rows of one claim and one caller form one block. */
    if (status == PAWL_OK)
        status = jobs_seal(call);
    return status == PAWL_OK ? jobs_claim_set(call->op, &claim) : status;
}

pawl_status jobs_instance_end(struct operation *op, pawl_uuid instance, bool goodbye) {
    struct jobs_call call;
    struct id_list tokens = {NULL, 0};
    pawl_status status = jobs_begin(&call, op, instance);
    if (status == PAWL_OK)
        status = jobs_ids(SQL(op, SQLITE_Q_JOB_CLAIM_OF_INSTANCE, instance), op->scratch, &tokens);
    for (size_t i = 0; status == PAWL_OK && i < tokens.count; i++)
        status = jobs_claim_lose(&call, tokens.ids[i], true, goodbye);
    return jobs_end(&call, status);
}

static pawl_status cancel_one(struct jobs_call *call, int64_t id, enum store_answer *answer) {
    struct stored_job job;
    bool found = false;
    TRY(jobs_brief(call, id, &job, &found));
    found = found && job.row.state != JOB_DEAD;
    *answer = found ? ANSWER_APPLIED : ANSWER_NOT_FOUND;
    if (!found || (job.row.state == JOB_RUNNING && job.row.job.cancel_ms > 0))
        return PAWL_OK;
    if (job.row.state != JOB_RUNNING)
        return cancelled(call, &job, uuid_nil());
    job.row.job.cancel_ms = call->op->now_ms;
    return jobs_move(call, &job, JOB_RUNNING);
}

static pawl_status redrive_one(struct jobs_call *call, int64_t id, bool discard, enum store_answer *answer) {
    struct stored_job job;
    bool found = false, held = false;
    int64_t holder = 0;
    TRY(jobs_brief(call, id, &job, &found));
    struct job *j = &job.row.job;
    *answer = ANSWER_NOT_FOUND;
    if (!found || job.row.state != JOB_DEAD)
        return PAWL_OK;
    *answer = ANSWER_APPLIED;
    if (discard) {
        jobs_sums(call, j->queue)->discarded++;
        return jobs_remove(call, &job);
    }
    if (!str_absent(j->unique_key))
        TRY(statement_number(SQL(call->op, SQLITE_Q_JOB_HOLDER, j->unique_key), &holder, &held));
    if (held)
        *answer = ANSWER_CONFLICT;
    if (held)
        return PAWL_OK;
    jobs_sums(call, j->queue)->redriven++;
    j->attempts = 0;
    j->cancel_ms = j->deadline_ms = 0;
    j->due_ms = call->op->now_ms;
    job.ord = jobrule_order(j->due_ms, j->priority);
    job.row.reason = 0;
    job.row.died_ms = 0;
    job.row.fingerprint = NONE;
    return jobs_move(call, &job, JOB_READY);
}

pawl_status jobs_drop(struct jobs_call *call, int64_t id) {
    struct stored_job job;
    bool found = false;
    enum store_answer answer;
    TRY(jobs_brief(call, id, &job, &found));
    if (!found)
        return PAWL_OK;
    return job.row.state == JOB_DEAD ? redrive_one(call, id, true, &answer) : cancel_one(call, id, &answer);
}

enum deed { DEED_CANCEL, DEED_REDRIVE, DEED_DISCARD };

/* The order of the ids; the first of two equal ones comes first. */
static size_t *sorted_ids(struct arena *arena, const int64_t *ids, size_t count) {
    size_t *order = arena_array(arena, count, sizeof *order);
    for (size_t i = 0; order != NULL && i < count; i++) {
        size_t at = i;
        for (; at > 0 && ids[order[at - 1]] > ids[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return order;
}

static pawl_status do_all(struct jobs_call *call, const struct id_list *ids, enum deed deed,
                          enum store_answer *answers) {
    size_t *order = sorted_ids(call->op->scratch, ids->ids, ids->count);
    if (order == NULL || answers == NULL)
        return operation_no_memory(call->op);
    for (size_t i = 0; i < ids->count; i++) {
        int64_t id = ids->ids[order[i]];
        TRY(deed == DEED_CANCEL ? cancel_one(call, id, &answers[order[i]])
                                : redrive_one(call, id, deed == DEED_DISCARD, &answers[order[i]]));
    }
    if (deed == DEED_REDRIVE)
        TRY(jobs_wake_wanted(call->op));
    return PAWL_OK;
}

/* One operation over ids. */
struct over_ids {
    const char *name;
    enum deed deed;
    struct id_list ids;
};

static pawl_status run(struct store *store, const struct over_ids *in, struct arena *arena,
                       struct job_answers *out, pawl_error *err) {
    struct jobs_call call;
    struct job_answers result = {arena_array(arena, in->ids.count, sizeof *result.answers), in->ids.count};
    jobs_call_begin(&call, store, in->name, uuid_nil(),
                    check_job_ids(in->name, in->ids.ids, in->ids.count, err), err);
    return jobs_give(&call, do_all(&call, &in->ids, in->deed, result.answers), out, &result);
}

pawl_status sqlite_jobs_cancel(struct store *store, const int64_t *ids, size_t count, struct arena *arena,
                               struct job_answers *out, pawl_error *err) {
    struct over_ids in = {"jobs_cancel", DEED_CANCEL, {(int64_t *)ids, count}};
    return run(store, &in, arena, out, err);
}

pawl_status sqlite_jobs_redrive(struct store *store, const int64_t *ids, size_t count, bool discard,
                                struct arena *arena, struct job_answers *out, pawl_error *err) {
    struct over_ids in = {"jobs_redrive", discard ? DEED_DISCARD : DEED_REDRIVE, {(int64_t *)ids, count}};
    return run(store, &in, arena, out, err);
}
