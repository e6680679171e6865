/* The fan-in on SQLite: ending and reopening partitions and runs, and the jobs that follow. */
#include "base/str.h"
#include "domain/run/rule.h"
#include "store/sqlite/runs/runs.h"

#define NONE ((pawl_str){NULL, 0})

static pawl_status put_job(struct jobs_call *call, const struct job *job, int64_t *id) {
    enum store_answer answer;
    return jobs_insert(call, job, &answer, id);
}

pawl_status runs_page_put(struct jobs_call *call, const struct run_row *run, struct partition_row *part) {
    struct job job = {0};
    part->job = 0;
    if (part->paused)
        return PAWL_OK;
    TRY(run_page_job(run, part, call->op->scratch, &job, call->op->err));
    return put_job(call, &job, &part->job);
}

pawl_status runs_limit(struct operation *op, const struct run_row *run) {
    struct job_limit limit = {
        .concurrency = run->concurrency, .rate = run->rate, .rate_ms = run->rate_ms, .weight = 1};
    TRY(run_key_text(run->id, op->scratch, &limit.key, op->err));
    return jobs_limit_put(op, &limit);
}

static pawl_status children_failed_text(struct jobs_call *call, int failed, pawl_str *text) {
    *text = NONE;
    if (failed == 0)
        return PAWL_OK;
    *text = str_from(arena_printf(call->op->scratch, "%d of its child runs failed", failed));
    return str_absent(*text) ? operation_no_memory(call->op) : PAWL_OK;
}

/* A run that has consolidated and has no open children. */
static pawl_status nest_end(struct jobs_call *call, struct run_row *run) {
    pawl_str text;
    pawl_status status = children_failed_text(call, run->children_failed, &text);
    return status == PAWL_OK
               ? runs_end(call, run, run->children_failed > 0 ? RUN_IS_FAILED : RUN_IS_COMPLETED, text)
               : status;
}

/* A child has ended, or works again; its state is still the old one then. */
static pawl_status tell_parent(struct jobs_call *call, const struct run_row *run, bool open) {
    struct run_row parent;
    bool found = false;
    int by = open ? 1 : -1;
    if (run->parent == 0)
        return PAWL_OK;
    TRY(runs_load(call->op, run->parent, call->op->scratch, &parent, &found));
    if (!found)
        return PAWL_OK;
    parent.children_open += by;
    parent.children_failed -= run->state != RUN_IS_COMPLETED ? by : 0;
    if (open && parent.state == RUN_IS_FAILED && parent.consolidated)
        return runs_open(call, &parent, RUN_IS_NESTED);
    if (!open && parent.state == RUN_IS_NESTED && parent.children_open == 0)
        return nest_end(call, &parent);
    return runs_save(call->op, &parent);
}

pawl_status runs_open(struct jobs_call *call, struct run_row *run, enum run_state state) {
    bool ended = run_ended(run->state);
    if (ended)
        TRY(tell_parent(call, run, true));
    if (ended && run->paced)
        TRY(runs_limit(call->op, run));
    run->state = state;
    run->error = NONE;
    run->ended_ms = 0;
    return runs_save(call->op, run);
}

pawl_status runs_end(struct jobs_call *call, struct run_row *run, enum run_state state, pawl_str error) {
    struct job_limit none = {.weight = 1};
    struct job_wake wake = {.keep_ms = 0};
    struct wake_result ignored;
    run->state = state;
    run->ended_ms = call->op->now_ms;
    run->error = error;
    TRY(runs_save(call->op, run));
    if (run->paced)
        TRY(run_key_text(run->id, call->op->scratch, &none.key, call->op->err));
    if (run->paced)
        TRY(jobs_limit_put(call->op, &none));
    if (!str_absent(run->wait_key)) {
        TRY(run_end_signal(run, call->op->scratch, &wake, call->op->err));
        TRY(jobs_wake_in(call, &wake, &ignored));
    }
    return tell_parent(call, run, false);
}

/* The consolidation has ended, or there was none to do. */
static pawl_status consolidated(struct jobs_call *call, struct run_row *run) {
    run->consolidated = true;
    run->job = 0;
    if (run->children_open == 0)
        return nest_end(call, run);
    run->state = RUN_IS_NESTED;
    return runs_save(call->op, run);
}

pawl_status runs_consolidate(struct jobs_call *call, struct run_row *run) {
    struct job job = {0};
    run->round++;
    if (str_absent(run->consolidate))
        return consolidated(call, run);
    run->state = RUN_IS_CONSOLIDATING;
    TRY(runs_load_sums(call->op, run));
    TRY(run_consolidate_job(run, run->items, call->op->scratch, &job, call->op->err));
    TRY(put_job(call, &job, &run->job));
    TRY(jobs_wake_wanted(call->op));
    return runs_save(call->op, run);
}

pawl_status runs_fan_in(struct jobs_call *call, struct run_row *run) {
    pawl_str text;
    switch (runrule_fan_in(run->remaining, run->failed, run->policy == FAILED_PARTIAL,
                           run->policy == FAILED_WAIT)) {
    case NEXT_CONSOLIDATE:
        return runs_consolidate(call, run);
    case NEXT_FAIL:
        text = str_from(
            arena_printf(call->op->scratch, "%d of %d partitions failed", run->failed, run->partitions));
        return str_absent(text) ? operation_no_memory(call->op) : runs_end(call, run, RUN_IS_FAILED, text);
    case NEXT_REPAIR:
        run->state = RUN_IS_IN_REPAIR;
        break;
    case NEXT_NOTHING:
        break;
    }
    return runs_save(call->op, run);
}

pawl_status runs_partition_end(struct jobs_call *call, struct run_row *run, struct partition_row *part,
                               enum part_state state, pawl_str error) {
    struct job job = {0};
    int64_t id = 0;
    part->state = state;
    part->error = error;
    part->ended_ms = part->updated_ms = call->op->now_ms;
    run->remaining--;
    run->done += state == PART_DONE;
    run->failed += state == PART_FAILED;
    TRY(partition_save(call->op, part));
    if (!str_absent(run->announce)) {
        TRY(run_announce_job(run, part, call->op->scratch, &job, call->op->err));
        TRY(put_job(call, &job, &id));
        TRY(jobs_wake_wanted(call->op));
    }
    return runs_fan_in(call, run);
}

pawl_status runs_partition_open(struct jobs_call *call, struct run_row *run, struct partition_row *part) {
    if (part->state == PART_ACTIVE)
        return PAWL_OK;
    run->done -= part->state == PART_DONE;
    run->failed -= part->state == PART_FAILED;
    run->remaining++;
    part->state = PART_ACTIVE;
    part->paused = run->paused;
    part->error = NONE;
    part->ended_ms = 0;
    part->updated_ms = call->op->now_ms;
    return run->state != RUN_IS_RUNNING ? runs_open(call, run, RUN_IS_RUNNING) : runs_save(call->op, run);
}

static pawl_status page_ended(struct jobs_call *call, const struct run_job_name *name, const struct job *job,
                              pawl_str why) {
    struct partition_row part;
    struct run_row run;
    bool found = false, run_found = false;
    pawl_status status = partition_load(call->op, name->run, name->part, call->op->scratch, &part, &found);
    if (status != PAWL_OK || !found || part.state != PART_ACTIVE || part.job != job->id)
        return status;
    status = runs_load(call->op, name->run, call->op->scratch, &run, &run_found);
    return status == PAWL_OK && run_found ? runs_partition_end(call, &run, &part, PART_FAILED, why) : status;
}

pawl_status runs_job_ended(struct jobs_call *call, const struct job *job, enum run_job_end how,
                           pawl_str error) {
    struct run_job_name name;
    struct run_row run;
    bool found = false;
    pawl_str why = NONE;
    if ((job->flags & JOB_RUN) == 0 || !run_job_name(job->unique_key, &name))
        return PAWL_OK;
    TRY(run_job_end_text(job, how, error, call->op->scratch, &why, call->op->err));
    if (name.part >= 0)
        return page_ended(call, &name, job, why);
    TRY(runs_load(call->op, name.run, call->op->scratch, &run, &found));
    bool waits =
        found && run.job == job->id &&
        (run.state == RUN_IS_CONSOLIDATING || (run.state == RUN_IS_FAILED && how == RUN_JOB_COMPLETED));
    if (!waits)
        return PAWL_OK;
    if (how == RUN_JOB_COMPLETED) {
        if (run.state == RUN_IS_FAILED)
            TRY(runs_open(call, &run, RUN_IS_CONSOLIDATING));
        return consolidated(call, &run);
    }
    why = str_from(arena_printf(call->op->scratch, "the consolidation failed: %.*s", STR_ARG(why)));
    return str_absent(why) ? operation_no_memory(call->op) : runs_end(call, &run, RUN_IS_FAILED, why);
}
