/* Claiming jobs on SQLite: sweep, promote, deadlines, then keyed and plain jobs in fair turns. */
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/sqlite/fleet/instance.h"
#include "store/sqlite/jobs/jobs.h"
#include "store/sqlite/messages/put.h"

pawl_status jobs_sweep(struct jobs_call *call) {
    int64_t since = call->op->now_ms - call->swept_ms;
    if (since >= 0 && since < PAWL_JOB_SWEEP_MS)
        return PAWL_OK;
    struct {
        int64_t token;
        bool gone;
    } claims[PAWL_JOB_SWEEP_CLAIMS];
    size_t count = 0;
    bool any = false;
    TRY(statement_any(statement_begin(call->op, SQLITE_Q_JOB_CLAIM_ANY), &any));
    if (!any)
        return PAWL_OK; /* nothing runs: an idle worker that polls writes nothing */
    struct statement s = SQL(call->op, SQLITE_Q_JOB_CLAIM_LIST, call->op->now_ms, PAWL_JOB_SWEEP_CLAIMS);
    for (; count < PAWL_JOB_SWEEP_CLAIMS && statement_next(&s); count++) {
        claims[count].token = column_int(&s, 0);
        claims[count].gone = column_int(&s, 1) != 0;
    }
    TRY(statement_end(&s));
    for (size_t i = 0; i < count; i++)
        TRY(jobs_claim_lose(call, claims[i].token, claims[i].gone, false));
    call->changed = true;
    call->swept_ms = call->op->now_ms;
    return PAWL_OK;
}

static pawl_status promote(struct jobs_call *call) {
    struct id_list due;
    TRY(jobs_ids(SQL(call->op, SQLITE_Q_JOB_LIST_DUE, call->op->now_ms, PAWL_JOB_PROMOTE_MAX),
                 call->op->scratch, &due));
    for (size_t i = 0; i < due.count; i++) {
        struct stored_job job;
        bool found = false;
        TRY(jobs_brief(call, due.ids[i], &job, &found));
        if (!found)
            continue;
        job.row.wait_key = job.row.wait_step = (pawl_str){NULL, 0};
        TRY(jobs_move(call, &job, JOB_READY));
    }
    return PAWL_OK;
}

static pawl_status deadlines(struct jobs_call *call) {
    struct id_list over;
    TRY(jobs_ids(SQL(call->op, SQLITE_Q_JOB_LIST_OVERDUE, call->op->now_ms, PAWL_JOB_PROMOTE_MAX),
                 call->op->scratch, &over));
    for (size_t i = 0; i < over.count; i++) {
        struct stored_job job;
        bool found = false;
        TRY(jobs_brief(call, over.ids[i], &job, &found));
        if (found)
            TRY(jobs_record(call, &job.row.job, &(struct job_end){.outcome = RUN_DEAD}));
        if (found)
            TRY(jobs_die(call, &job, JOB_DEAD_DEADLINE, (pawl_str){NULL, 0}));
    }
    return PAWL_OK;
}

/* The claim that is being made. */
struct job_granting {
    struct jobs_call *call;
    const struct jobs_claim *in;
    pawl_str queue;
    int64_t token;
    int count;
};

static pawl_status lease_all(struct job_granting *grant, const struct id_list *list) {
    struct operation *op = grant->call->op;
    for (size_t i = 0; i < list->count; i++) {
        if (grant->token == 0)
            grant->token = operation_next_token(op);
        TRY(statement_run(
            SQL(op, SQLITE_Q_JOB_LEASE, list->ids[i], grant->token, op->now_ms + grant->in->lease_ms)));
        grant->count++;
    }
    struct job_counts *counts = list->count > 0 ? jobs_sums(grant->call, grant->queue) : NULL;
    if (counts != NULL) {
        counts->ready -= (int64_t)list->count;
        counts->running += (int64_t)list->count;
    }
    return PAWL_OK;
}

static pawl_status grant_plain(struct job_granting *grant, int max) {
    struct id_list list;
    TRY(jobs_ids(SQL(grant->call->op, SQLITE_Q_JOB_LIST_PLAIN, grant->queue, max), grant->call->op->scratch,
                 &list));
    return lease_all(grant, &list);
}

static pawl_status ready_of(struct job_granting *grant, pawl_str key, int max, struct id_list *list) {
    return jobs_ids(SQL(grant->call->op, SQLITE_Q_JOB_LIST_KEYED, grant->queue, key, max),
                    grant->call->op->scratch, list);
}

/* The next key after one; *key absent when there is none. */
static pawl_status next_key(struct job_granting *grant, pawl_str *key) {
    struct statement s = SQL(grant->call->op, SQLITE_Q_JOB_KEY_NEXT, grant->queue, *key);
    pawl_str next = {NULL, 0};
    if (statement_next(&s))
        next = column_copy(&s, 0, grant->call->op->scratch);
    TRY(statement_end(&s));
    *key = next;
    return PAWL_OK;
}

/* One entry per key that has a ready job. */
static pawl_status keys_of(struct job_granting *grant, int max, struct jobrule_key **keys, size_t *count) {
    struct operation *op = grant->call->op;
    size_t cap = 0;
    pawl_str key = STR("");
    *keys = NULL;
    *count = 0;
    TRY(next_key(grant, &key));
    while (!str_absent(key)) {
        struct id_list ready;
        TRY(list_grow(op, op->scratch, (void **)keys, &cap, *count, sizeof **keys));
        TRY(jobs_key(op, key, &(*keys)[*count]));
        TRY(ready_of(grant, key, max, &ready));
        (*keys)[(*count)++].ready = (int)ready.count;
        TRY(next_key(grant, &key));
    }
    return PAWL_OK;
}

pawl_status jobs_key_keep(struct operation *op, const struct jobrule_key *key) {
    return statement_run(SQL(op, SQLITE_Q_JOB_KEY_PUT, key->key, key->running, key->vtime, key->tat_us));
}

static pawl_status grant_keyed(struct job_granting *grant, int max, int *granted) {
    struct jobs_call *call = grant->call;
    struct jobrule_key *keys = NULL;
    size_t count = 0;
    *granted = 0;
    if (max <= 0)
        return PAWL_OK;
    TRY(keys_of(grant, max, &keys, &count));
    if (count > 0)
        *granted = jobrule_share(keys, count, max, call->op->now_ms, &call->vtime);
    for (size_t i = 0; i < count; i++) {
        struct id_list list;
        if (keys[i].granted == 0)
            continue;
        call->changed = true;
        TRY(ready_of(grant, keys[i].key, keys[i].granted, &list));
        TRY(lease_all(grant, &list));
        TRY(jobs_key_keep(call->op, &keys[i]));
    }
    return PAWL_OK;
}

static pawl_status note_claim(struct job_granting *grant) {
    struct operation *op = grant->call->op;
    return statement_run(SQL(op, SQLITE_Q_JOB_CLAIM_INSERT, grant->token, grant->in->instance, grant->queue,
                             op->now_ms + grant->in->lease_ms, id_or_null(grant->in->request)));
}

/* The jobs of a claim that are not reported. */
static pawl_status hand_out(struct operation *op, int64_t token, struct arena *arena, struct job_list *out) {
    struct row_list rows = {NULL, 0};
    TRY(rows_read(SQL(op, SQLITE_Q_JOB_LIST_GRANTED, token), &job_shape, arena, &rows));
    *out = (struct job_list){rows.rows, rows.count};
    return PAWL_OK;
}

/* What a repeated request was granted and has not reported. */
static pawl_status again(struct jobs_call *call, const struct jobs_claim *in, struct arena *arena,
                         struct job_list *out) {
    int64_t token = 0;
    bool found = false;
    TRY(statement_number(SQL(call->op, SQLITE_Q_JOB_CLAIM_OF_REQUEST, in->request, in->instance), &token,
                         &found));
    return hand_out(call->op, token, arena, out);
}

static pawl_status grant_all(struct job_granting *grant) {
    struct jobs_call *call = grant->call;
    int max = grant->in->max, first = 0, got = 0, more = 0;
    pawl_str key = STR("");
    TRY(next_key(grant, &key));
    bool keyed = !str_absent(key);
    if (keyed) {
        first = call->turn ? max - max / 2 : max / 2;
        call->turn = !call->turn;
        call->changed = true;
        TRY(grant_keyed(grant, first, &got));
    }
    TRY(grant_plain(grant, max - got));
    if (keyed && got == first)
        TRY(grant_keyed(grant, max - grant->count, &more));
    return PAWL_OK;
}

pawl_status jobs_claim_in(struct jobs_call *call, const struct jobs_claim *in, struct arena *arena,
                          struct job_list *out) {
    bool used = false;
    pawl_status status = instance_must_be_live(call->op, in->instance);
    if (status == PAWL_OK)
        status = request_use(call->op, in->request, &used);
    if (status != PAWL_OK)
        return status;
    if (used)
        return again(call, in, arena, out);
    status = jobs_sweep(call);
    if (status == PAWL_OK)
        status = promote(call);
    if (status == PAWL_OK)
        status = deadlines(call);
    struct job_granting grant = {.call = call, .in = in, .queue = jobs_queue(in->queue)};
    bool paused = false;
    if (status == PAWL_OK)
        status = statement_any(SQL(call->op, SQLITE_Q_PAUSE_FIND, PAUSE_QUEUE, grant.queue), &paused);
    if (status == PAWL_OK && !paused)
        status = grant_all(&grant);
    if (status != PAWL_OK)
        return status;
    *out = (struct job_list){NULL, 0};
    if (grant.count > 0)
        status = note_claim(&grant);
    return status == PAWL_OK && grant.count > 0 ? hand_out(call->op, grant.token, arena, out) : status;
}

pawl_status sqlite_jobs_claim(struct store *store, const struct jobs_claim *in, struct arena *arena,
                              struct job_list *out, pawl_error *err) {
    struct jobs_call call;
    struct job_list list = {NULL, 0};
    jobs_call_begin(&call, store, "jobs_claim", in->instance, check_jobs_claim(in, err), err);
    return jobs_give(&call, jobs_claim_in(&call, in, arena, &list), out, &list);
}
