/* The tables of pooled work, and how a job comes in. */
#include "store/model/jobs.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"

void *pile_add(struct pile *pile, const void *item) {
    pile->items = model_grow(pile->items, &pile->cap, pile->count + 1, pile->size);
    char *at = pile->items + pile->count++ * pile->size;
    memcpy(at, item, pile->size);
    return at;
}

void pile_drop(struct pile *pile, size_t index) {
    assert(index < pile->count);
    char *at = pile->items + index * pile->size;
    memmove(at, at + pile->size, (pile->count - index - 1) * pile->size);
    pile->count--;
}

struct model_jobs *model_jobs_new(void) {
    struct model_jobs *jobs = model_alloc(sizeof *jobs);
    struct {
        struct pile *pile;
        size_t size;
    } const piles[] = {{&jobs->jobs, sizeof(struct mjob)},
                       {&jobs->claims, sizeof(struct mclaim)},
                       {&jobs->keys, sizeof(struct mkey)},
                       {&jobs->limits, sizeof(struct job_limit)},
                       {&jobs->steps, sizeof(struct mstep)},
                       {&jobs->signals, sizeof(struct msignal)},
                       {&jobs->agents, sizeof(struct agent)},
                       {&jobs->tasks, sizeof(struct task)},
                       {&jobs->schedules, sizeof(struct job_schedule)},
                       {&jobs->fires, sizeof(struct mfire)},
                       {&jobs->refusals, sizeof(struct refusal)},
                       {&jobs->runs, sizeof(struct mrun)},
                       {&jobs->blocks, sizeof(struct mblock)},
                       {&jobs->anchors, sizeof(struct manchor)},
                       {&jobs->spine, sizeof(struct spine_event)},
                       {&jobs->counts, sizeof(struct job_counts)}};
    for (size_t i = 0; i < sizeof piles / sizeof piles[0]; i++)
        piles[i].pile->size = piles[i].size;
    jobs->texts = arena_create(0);
    assert(jobs->texts != NULL);
    jobs->turn = true;
    struct job_limit queued = {.key = STR("schedule:*"), .concurrency = 1, .weight = 1};
    pile_add(&jobs->limits, &queued);
    return jobs;
}

void model_jobs_free(struct model_jobs *jobs) {
    if (jobs == NULL)
        return;
    for (size_t i = 0; i < jobs->claims.count; i++) {
        free(PILE(jobs->claims, struct mclaim, i)->ids.items);
        free(PILE(jobs->claims, struct mclaim, i)->done.items);
    }
    for (size_t i = 0; i < jobs->blocks.count; i++)
        buf_free(&PILE(jobs->blocks, struct mblock, i)->entries);
    struct pile *const piles[] = {&jobs->jobs,  &jobs->claims,    &jobs->keys,   &jobs->limits,
                                  &jobs->steps, &jobs->signals,   &jobs->agents, &jobs->tasks,
                                  &jobs->fires, &jobs->runs,      &jobs->blocks, &jobs->anchors,
                                  &jobs->spine, &jobs->schedules, &jobs->counts, &jobs->refusals};
    for (size_t i = 0; i < sizeof piles / sizeof piles[0]; i++)
        free(piles[i]->items);
    arena_free(jobs->texts);
    free(jobs);
}

pawl_str model_keep(struct model_jobs *jobs, pawl_str text) {
    pawl_str copy = {NULL, 0};
    pawl_status status = str_dup(jobs->texts, text, &copy, NULL);
    assert(status == PAWL_OK);
    (void)status;
    return copy;
}

pawl_str model_give(struct arena *arena, pawl_str text) {
    pawl_str copy = {NULL, 0};
    pawl_status status = str_dup(arena, text, &copy, NULL);
    assert(status == PAWL_OK);
    (void)status;
    return copy;
}

struct job model_job_give(const struct job *job, struct arena *arena) {
    struct job copy = *job;
    pawl_str *const texts[] = {&copy.type,     &copy.queue,      &copy.payload,     &copy.task,
                               &copy.key,      &copy.unique_key, &copy.traceparent, &copy.schedule,
                               &copy.progress, &copy.agent};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        *texts[i] = model_give(arena, *texts[i]);
    return copy;
}

struct job_row model_job_row_give(const struct mjob *job, struct arena *arena) {
    struct job_row copy = job->row;
    copy.job = model_job_give(&job->row.job, arena);
    copy.error = model_give(arena, copy.error);
    copy.wait_key = model_give(arena, copy.wait_key);
    copy.wait_step = model_give(arena, copy.wait_step);
    copy.fingerprint = model_give(arena, copy.fingerprint);
    return copy;
}

struct mjob *model_job_find(struct model_jobs *jobs, int64_t id) {
    for (size_t i = 0; i < jobs->jobs.count; i++)
        if (PILE(jobs->jobs, struct mjob, i)->row.job.id == id)
            return PILE(jobs->jobs, struct mjob, i);
    return NULL;
}

struct mclaim *model_claim_find(struct model_jobs *jobs, int64_t token) {
    for (size_t i = 0; i < jobs->claims.count; i++)
        if (PILE(jobs->claims, struct mclaim, i)->token == token)
            return PILE(jobs->claims, struct mclaim, i);
    return NULL;
}

struct job_counts *model_counts_of(struct model_jobs *jobs, pawl_str queue) {
    size_t at = 0;
    for (; at < jobs->counts.count; at++) {
        int order = str_compare(PILE(jobs->counts, struct job_counts, at)->queue, queue);
        if (order == 0)
            return PILE(jobs->counts, struct job_counts, at);
        if (order > 0)
            break;
    }
    struct job_counts fresh = {.queue = model_keep(jobs, queue)};
    pile_add(&jobs->counts, &fresh);
    struct job_counts *rows = PILE(jobs->counts, struct job_counts, 0);
    memmove(&rows[at + 1], &rows[at], (jobs->counts.count - at - 1) * sizeof *rows);
    rows[at] = fresh;
    return &rows[at];
}

static int64_t *gauge(struct job_counts *counts, enum job_state state) {
    int64_t *const gauges[] = {NULL,           &counts->ready,   &counts->running,
                               &counts->later, &counts->waiting, &counts->dead};
    return gauges[state];
}

void model_job_state(struct model_jobs *jobs, struct mjob *job, enum job_state state) {
    struct job_counts *counts = model_counts_of(jobs, job->row.job.queue);
    if (job->row.state != 0)
        --*gauge(counts, job->row.state);
    ++*gauge(counts, state);
    job->row.state = state;
}

void model_job_remove(struct model_jobs *jobs, struct mjob *job) {
    int64_t id = job->row.job.id;
    --*gauge(model_counts_of(jobs, job->row.job.queue), job->row.state);
    for (size_t i = jobs->steps.count; i-- > 0;)
        if (PILE(jobs->steps, struct mstep, i)->job_id == id)
            pile_drop(&jobs->steps, i);
    pile_drop(&jobs->jobs, (size_t)(job - PILE(jobs->jobs, struct mjob, 0)));
}

struct mkey *model_key_state(struct model_jobs *jobs, pawl_str key) {
    for (size_t i = 0; i < jobs->keys.count; i++)
        if (str_equal(PILE(jobs->keys, struct mkey, i)->key, key))
            return PILE(jobs->keys, struct mkey, i);
    struct mkey fresh = {.key = model_keep(jobs, key)};
    return pile_add(&jobs->keys, &fresh);
}

static const struct job_limit *limit_named(struct model_jobs *jobs, pawl_str key, bool prefix) {
    for (size_t i = 0; i < jobs->limits.count; i++) {
        const struct job_limit *limit = PILE(jobs->limits, struct job_limit, i);
        if (!prefix && str_equal(limit->key, key))
            return limit;
        if (prefix && key.len > 0 && limit->key.len == key.len + 1 && str_starts_with(limit->key, key) &&
            limit->key.ptr[key.len] == '*')
            return limit;
    }
    return NULL;
}

struct jobrule_key model_key_of(struct model_jobs *jobs, pawl_str key) {
    const struct mkey *state = model_key_state(jobs, key);
    const struct job_limit *limit = limit_named(jobs, key, false);
    if (limit == NULL)
        limit = limit_named(jobs, jobrule_prefix(key), true);
    struct jobrule_key of = {.key = state->key,
                             .running = state->running,
                             .vtime = state->vtime,
                             .tat_us = state->tat_us,
                             .limit = {.weight = 1}};
    if (limit != NULL)
        of.limit = (struct jobrule_limit){limit->concurrency, limit->rate, limit->rate_ms, limit->weight};
    return of;
}

/* The unfinished, not dead job that holds a unique key. */
static const struct mjob *holder_of(struct model_jobs *jobs, pawl_str unique_key) {
    for (size_t i = 0; i < jobs->jobs.count; i++) {
        const struct mjob *job = PILE(jobs->jobs, struct mjob, i);
        if (job->row.state != JOB_DEAD && !str_absent(job->row.job.unique_key) &&
            str_equal(job->row.job.unique_key, unique_key))
            return job;
    }
    return NULL;
}

enum store_answer model_job_insert(struct model *model, const struct mjob *in, int64_t *id) {
    struct model_jobs *jobs = model->jobs;
    struct mjob fresh = *in;
    struct job *job = &fresh.row.job;
    if (!str_absent(job->task)) {
        const struct task *task = model_task_find(jobs, job->task);
        pawl_str missing = {NULL, 0};
        if (task == NULL)
            return ANSWER_NOT_FOUND;
        pawl_str theirs = task->agent;
        job_fill_in(job, task);
        bool foreign = !str_absent(theirs) && !str_equal(theirs, job->agent);
        if (foreign)
            missing = str_from(arena_printf(jobs->texts, "agent %.*s", STR_ARG(theirs)));
        if (foreign || model_scope_missing(jobs, job->agent, task->scopes, &missing)) {
            model_refuse(model, job->agent, task->name, missing, 0);
            return ANSWER_REFUSED;
        }
    }
    const struct mjob *holder = str_absent(job->unique_key) ? NULL : holder_of(jobs, job->unique_key);
    if (holder != NULL) {
        *id = holder->row.job.id;
        return ANSWER_DUPLICATE;
    }
    job->id = ++jobs->last_job;
    job->queue = jobs_queue(job->queue);
    if (str_absent(job->payload))
        job->payload = STR("{}");
    if (job->max_attempts == 0)
        job->max_attempts = PAWL_JOB_ATTEMPTS_DEFAULT;
    if (job->due_ms == 0)
        job->due_ms = model->now_ms;
    job->put_ms = model->now_ms;
    fresh.ord = jobrule_order(job->due_ms, job->priority);
    *job = model_job_give(job, jobs->texts);
    struct mjob *kept = pile_add(&jobs->jobs, &fresh);
    model_job_state(jobs, kept, kept->row.job.due_ms <= model->now_ms ? JOB_READY : JOB_LATER);
    model_counts_of(jobs, kept->row.job.queue)->put++;
    *id = kept->row.job.id;
    return ANSWER_APPLIED;
}

static pawl_status jobs_enqueue(struct store *store, const struct jobs_enqueue *in, struct arena *arena,
                                struct enqueue_result *out, pawl_error *err) {
    struct enqueue_result result = {0};
    pawl_status status = check_jobs_enqueue(in, err);
    if (status != PAWL_OK)
        return status;
    result.answers = arena_array(arena, in->count, sizeof *result.answers);
    result.ids = arena_array(arena, in->count, sizeof *result.ids);
    if (result.answers == NULL || result.ids == NULL)
        return error_set(err, PAWL_NO_MEMORY, "jobs_enqueue", "no memory for %zu jobs", in->count);
    struct model *model = model_enter(store);
    bool used = in->count > 0 && model_request_find(model, in->request) != NULL;
    bool stored = false;
    for (size_t i = 0; i < in->count; i++) {
        const struct job_new *job = &in->jobs[i];
        struct mjob fresh = {
            .row.job = {.type = job->type,
                        .queue = job->queue,
                        .payload = job->payload,
                        .task = job->task,
                        .agent = job->agent,
                        .key = job->key,
                        .unique_key = job->unique_key,
                        .traceparent = job->traceparent,
                        .priority = job->priority,
                        .max_attempts = job->max_attempts,
                        .flags = job->flags,
                        .due_ms = job->due_ms != 0 ? job->due_ms : model->now_ms + job->delay_ms,
                        .deadline_ms = job->deadline_ms,
                        .timeout_ms = job->timeout_ms}};
        result.answers[i] = used ? ANSWER_DUPLICATE : model_job_insert(model, &fresh, &result.ids[i]);
        stored = stored || result.answers[i] == ANSWER_APPLIED || result.answers[i] == ANSWER_DUPLICATE;
    }
    if (!used && stored)
        model_request_add(model, in->request);
    *out = result;
    return model_leave(model, PAWL_OK);
}

const struct store_jobs_ops model_jobs_ops = {
    .enqueue = jobs_enqueue,
    .claim = model_jobs_claim,
    .finish = model_jobs_finish,
    .renew = model_jobs_renew,
    .cancel = model_jobs_cancel,
    .redrive = model_jobs_redrive,
    .wake = model_jobs_wake,
    .steps_put = model_steps_put,
    .steps_read = model_steps_read,
    .limit_set = model_limit_set,
    .limits = model_limits,
    .jobs = model_job_rows,
    .why = model_job_why,
    .dead_groups = model_job_dead_groups,
    .counts = model_job_counts,
    .backlog = model_job_backlog,
    .task_put = model_task_put,
    .task_remove = model_task_remove,
    .tasks = model_tasks,
    .schedule_put = model_schedule_put,
    .schedule_remove = model_schedule_remove,
    .schedules = model_schedules,
    .schedule_fire = model_schedule_fire,
    .agent_put = model_agent_put,
    .agents = model_agents,
    .refusals = model_refusals,
    .runs = model_task_runs,
    .run_sums = model_run_sums,
    .audit_verify = model_audit_verify,
    .audit_anchor = model_audit_anchor,
    .audit_head = model_audit_head,
    .spine_read = model_spine_read,
    .spine_remove = model_spine_remove,
    .maintain = model_jobs_maintain,
};
