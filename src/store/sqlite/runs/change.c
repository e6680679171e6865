/* Changing runs on SQLite: reset, retry, pause, cancel, pace. */
#include "base/str.h"
#include "base/uuid.h"
#include "store/sqlite/runs/runs.h"

#define NONE ((pawl_str){NULL, 0})

/* One change of a run: what it is given and what it answers. */
struct change {
    struct jobs_call call;
    struct run_row run;
    bool found;
};

static void change_begin(struct change *c, struct store *store, const char *name, int64_t run,
                         pawl_status checked, pawl_error *err) {
    if (jobs_call_begin(&c->call, store, name, uuid_nil(), checked, err) != PAWL_OK)
        return;
    struct operation *op = c->call.op;
    pawl_status status = runs_load(op, run, op->scratch, &c->run, &c->found);
    if (status != PAWL_OK)
        op->status = operation_end(op, jobs_end(&c->call, status));
}

/* Starts a new generation of a partition: drops what is left of the old one and enqueues the next page. */
static pawl_status renew(struct change *c, struct partition_row *part) {
    int64_t old = part->job;
    part->generation++;
    part->job = 0;
    part->updated_ms = c->call.op->now_ms;
    TRY(partition_save(c->call.op, part));
    if (old != 0)
        TRY(jobs_drop(&c->call, old));
    TRY(runs_page_put(&c->call, &c->run, part));
    TRY(partition_save(c->call.op, part));
    return jobs_wake_wanted(c->call.op);
}

static pawl_status reset_in(struct change *c, const struct partition_reset *in, enum store_answer *answer) {
    struct partition_row part;
    bool found = false;
    TRY(partition_load(c->call.op, in->run, in->part, c->call.op->scratch, &part, &found));
    *answer = !c->found || !found           ? ANSWER_NOT_FOUND
              : !run_workable(c->run.state) ? ANSWER_CONFLICT
                                            : ANSWER_APPLIED;
    if (*answer != ANSWER_APPLIED)
        return PAWL_OK;
    TRY(runs_partition_open(&c->call, &c->run, &part));
    part.offset = in->offset;
    part.cursor = in->cursor;
    part.page = 0;
    part.items = part.repeats = part.pages = part.skipped = part.slow = 0;
    part.fetch_ms = part.fetch_ms_max = part.fetch_ms_last = 0;
    return renew(c, &part);
}

pawl_status sqlite_runs_reset(struct store *store, const struct partition_reset *in, enum store_answer *out,
                              pawl_error *err) {
    struct change c;
    enum store_answer answer = ANSWER_NOT_FOUND;
    change_begin(&c, store, "partition_reset", in->run, check_partition_reset(in, err), err);
    return jobs_give(&c.call, reset_in(&c, in, &answer), out, &answer);
}

static pawl_status retry_one(struct change *c, int place, struct run_retried *out) {
    struct partition_row part;
    bool found = false;
    pawl_status status = partition_load(c->call.op, c->run.id, place, c->call.op->scratch, &part, &found);
    if (status != PAWL_OK || !found) {
        out->answer = ANSWER_NOT_FOUND;
        return status;
    }
    if (part.state != PART_ACTIVE && part.state != PART_FAILED)
        return PAWL_OK;
    *out = (struct run_retried){ANSWER_APPLIED, out->count + 1};
    status = runs_partition_open(&c->call, &c->run, &part);
    return status == PAWL_OK ? renew(c, &part) : status;
}

static pawl_status retry_consolidation(struct change *c) {
    int64_t old = c->run.job;
    c->run.job = 0;
    TRY(runs_save(c->call.op, &c->run));
    TRY(jobs_drop(&c->call, old));
    TRY(runs_open(&c->call, &c->run, RUN_IS_CONSOLIDATING));
    return runs_consolidate(&c->call, &c->run);
}

static pawl_status retry_in(struct change *c, const struct run_retry *in, struct run_retried *out) {
    struct id_list failed = {NULL, 0};
    struct partition_row part;
    bool found = false;
    *out = (struct run_retried){ANSWER_CONFLICT, 0};
    if (in->part >= 0)
        TRY(partition_load(c->call.op, in->run, in->part, c->call.op->scratch, &part, &found));
    if (!c->found || (in->part >= 0 && !found))
        out->answer = ANSWER_NOT_FOUND;
    if (out->answer == ANSWER_NOT_FOUND || !run_workable(c->run.state))
        return PAWL_OK;
    if (in->part >= 0)
        return retry_one(c, in->part, out);
    TRY(partition_places(c->call.op, in->run, PART_FAILED, &failed));
    for (size_t i = 0; i < failed.count; i++)
        TRY(retry_one(c, (int)failed.ids[i], out));
    if (failed.count == 0 && c->run.state == RUN_IS_FAILED && !c->run.consolidated) {
        TRY(retry_consolidation(c));
        *out = (struct run_retried){ANSWER_APPLIED, 1};
    }
    return PAWL_OK;
}

pawl_status sqlite_runs_retry(struct store *store, const struct run_retry *in, struct run_retried *out,
                              pawl_error *err) {
    struct change c;
    struct run_retried result = {ANSWER_NOT_FOUND, 0};
    change_begin(&c, store, "run_retry", in->run, check_run_retry(in, err), err);
    return jobs_give(&c.call, retry_in(&c, in, &result), out, &result);
}

/* What becomes of an active partition; *old is a page job that is no longer wanted. */
typedef pawl_status (*partition_change)(struct change *c, struct partition_row *part, int64_t *old);

/* Every active partition of the run. */
static pawl_status change_active(struct change *c, partition_change change) {
    struct id_list active = {NULL, 0};
    TRY(partition_places(c->call.op, c->run.id, PART_ACTIVE, &active));
    for (size_t i = 0; i < active.count; i++) {
        struct partition_row part;
        bool found = false;
        int64_t old = 0;
        TRY(partition_load(c->call.op, c->run.id, (int)active.ids[i], c->call.op->scratch, &part, &found));
        if (!found)
            continue;
        TRY(change(c, &part, &old));
        TRY(partition_save(c->call.op, &part));
        if (old != 0)
            TRY(jobs_drop(&c->call, old));
    }
    return PAWL_OK;
}

static pawl_status pause_partition(struct change *c, struct partition_row *part, int64_t *old) {
    struct stored_job job;
    bool found = false;
    if (part->job != 0)
        TRY(jobs_brief(&c->call, part->job, &job, &found));
    part->paused = c->run.paused;
    if (!c->run.paused && part->job == 0) {
        part->updated_ms = c->call.op->now_ms;
        TRY(runs_page_put(&c->call, &c->run, part));
    } else if (c->run.paused && found && job.row.state != JOB_RUNNING) {
        *old = part->job;
        part->job = 0;
    }
    return PAWL_OK;
}

static pawl_status pause_in(struct change *c, bool paused, enum store_answer *answer) {
    *answer = !c->found                 ? ANSWER_NOT_FOUND
              : run_ended(c->run.state) ? ANSWER_CONFLICT
              : c->run.paused == paused ? ANSWER_DUPLICATE
                                        : ANSWER_APPLIED;
    if (*answer != ANSWER_APPLIED)
        return PAWL_OK;
    c->run.paused = paused;
    TRY(runs_save(c->call.op, &c->run));
    TRY(change_active(c, pause_partition));
    return jobs_wake_wanted(c->call.op);
}

pawl_status sqlite_runs_pause(struct store *store, int64_t run, bool paused, enum store_answer *out,
                              pawl_error *err) {
    struct change c;
    enum store_answer answer = ANSWER_NOT_FOUND;
    change_begin(&c, store, "run_pause", run, PAWL_OK, err);
    return jobs_give(&c.call, pause_in(&c, paused, &answer), out, &answer);
}

static pawl_status cancel_partition(struct change *c, struct partition_row *part, int64_t *old) {
    *old = part->job;
    part->state = PART_CANCELLED;
    part->job = 0;
    part->ended_ms = part->updated_ms = c->call.op->now_ms;
    return PAWL_OK;
}

static pawl_status cancel_in(struct change *c, enum store_answer *answer) {
    *answer = !c->found                          ? ANSWER_NOT_FOUND
              : c->run.state == RUN_IS_CANCELLED ? ANSWER_DUPLICATE
              : run_ended(c->run.state)          ? ANSWER_CONFLICT
                                                 : ANSWER_APPLIED;
    if (*answer != ANSWER_APPLIED)
        return PAWL_OK;
    int64_t consolidation = c->run.job;
    pawl_status status = change_active(c, cancel_partition);
    c->run.remaining = 0;
    c->run.job = 0;
    if (status == PAWL_OK)
        status = runs_end(&c->call, &c->run, RUN_IS_CANCELLED, NONE);
    return status == PAWL_OK && consolidation != 0 ? jobs_drop(&c->call, consolidation) : status;
}

pawl_status sqlite_runs_cancel(struct store *store, int64_t run, enum store_answer *out, pawl_error *err) {
    struct change c;
    enum store_answer answer = ANSWER_NOT_FOUND;
    change_begin(&c, store, "run_cancel", run, PAWL_OK, err);
    return jobs_give(&c.call, cancel_in(&c, &answer), out, &answer);
}

/* No page of the run starts before then. */
static pawl_status hold(struct change *c, int64_t hold_ms) {
    pawl_str key = NONE;
    struct jobrule_key state = {0};
    struct jobrule_limit limit = {c->run.concurrency, c->run.rate, c->run.rate_ms, 1};
    TRY(run_key_text(c->run.id, c->call.op->scratch, &key, c->call.op->err));
    TRY(jobs_key(c->call.op, key, &state));
    int64_t hold_us = jobrule_hold_us(&limit, c->call.op->now_ms + hold_ms);
    state.tat_us = hold_us > state.tat_us ? hold_us : state.tat_us;
    return jobs_key_keep(c->call.op, &state);
}

static pawl_status pace_in(struct change *c, const struct run_pace *in, enum store_answer *answer) {
    *answer = !c->found                                  ? ANSWER_NOT_FOUND
              : !c->run.paced || run_ended(c->run.state) ? ANSWER_CONFLICT
                                                         : ANSWER_APPLIED;
    if (*answer != ANSWER_APPLIED)
        return PAWL_OK;
    run_pace_set(&c->run, in);
    pawl_status status = runs_save(c->call.op, &c->run);
    if (status == PAWL_OK)
        status = runs_limit(c->call.op, &c->run);
    return status == PAWL_OK && in->hold_ms > 0 ? hold(c, in->hold_ms) : status;
}

pawl_status sqlite_runs_pace(struct store *store, const struct run_pace *in, enum store_answer *out,
                             pawl_error *err) {
    struct change c;
    enum store_answer answer = ANSWER_NOT_FOUND;
    change_begin(&c, store, "run_pace", in->run, check_run_pace(in, err), err);
    return jobs_give(&c.call, pace_in(&c, in, &answer), out, &answer);
}
