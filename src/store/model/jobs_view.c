/* Questions about jobs: lists, counts, why; and the invariants. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/model/jobs.h"

static bool matches(pawl_str wanted, pawl_str text) {
    return str_absent(wanted) || (!str_absent(text) && str_equal(wanted, text));
}

static bool job_fits(const struct mjob *job, const struct job_filter *filter) {
    const struct job *j = &job->row.job;
    return (filter->state == 0 || filter->state == (int)job->row.state) && matches(filter->queue, j->queue) &&
           matches(filter->task, j->task) && matches(filter->type, j->type) && matches(filter->key, j->key) &&
           matches(filter->fingerprint, job->row.fingerprint);
}

pawl_status model_job_rows(struct store *store, const struct job_filter *filter, struct arena *arena,
                           struct job_rows *out, pawl_error *err) {
    pawl_status status = check_job_filter(filter, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct model_jobs *jobs = model->jobs;
    struct job_rows list = {.rows = arena_array(arena, jobs->jobs.count, sizeof *list.rows)};
    if (list.rows == NULL)
        return model_leave(model, error_set(err, PAWL_NO_MEMORY, "jobs", "no memory for the jobs"));
    size_t looked = 0, scan = filter->scan_max > 0 ? (size_t)filter->scan_max : PAWL_LIST_SCAN;
    for (size_t i = 0; i < jobs->jobs.count && list.next_id == 0; i++) {
        const struct mjob *job = PILE(jobs->jobs, struct mjob, i);
        int64_t id = job->row.job.id;
        if (id <= filter->after_id || (filter->id != 0 && filter->id != id))
            continue;
        if (job_fits(job, filter))
            list.rows[list.count++] = model_job_row_give(job, arena);
        if (list.count == (size_t)filter->limit || ++looked == scan)
            list.next_id = id;
    }
    *out = list;
    return model_leave(model, PAWL_OK);
}

static bool worker_alive(struct model *model) {
    for (size_t i = 0; i < model->instance_count; i++)
        if ((model->instances[i]->kinds & KIND_BIT_JOBS) != 0 &&
            model_instance_live(model, model->instances[i]))
            return true;
    return false;
}

static int64_t ahead_of(struct model_jobs *jobs, const struct mjob *job) {
    int64_t ahead = 0;
    for (size_t i = 0; i < jobs->jobs.count && ahead < PAWL_LIST_MAX; i++) {
        const struct mjob *other = PILE(jobs->jobs, struct mjob, i);
        bool same = str_equal(other->row.job.queue, job->row.job.queue) &&
                    str_absent(other->row.job.key) == str_absent(job->row.job.key) &&
                    str_equal(other->row.job.key, job->row.job.key);
        bool before = other->ord < job->ord ||
                      (other->ord == job->ord && other->row.job.id < job->row.job.id);
        ahead += other->row.state == JOB_READY && same && before;
    }
    return ahead;
}

/* Why a ready job is not running. */
static void why_ready(struct model *model, const struct mjob *job, struct job_why *why) {
    if (!worker_alive(model)) {
        why->cause = JOB_WHY_NO_WORKER;
        return;
    }
    if (!str_absent(job->row.job.key)) {
        struct jobrule_key key = model_key_of(model->jobs, job->row.job.key);
        why->running = key.running;
        why->limit = key.limit.concurrency;
        if (key.limit.concurrency > 0 && key.running >= key.limit.concurrency) {
            why->cause = JOB_WHY_CONCURRENCY;
            return;
        }
        if (jobrule_room(&key, model->now_ms, 1) == 0) {
            why->cause = JOB_WHY_RATE;
            why->until_ms = jobrule_rate_until_ms(&key, model->now_ms);
            return;
        }
    }
    why->cause = JOB_WHY_READY;
    why->ahead = ahead_of(model->jobs, job);
}

pawl_status model_job_why(struct store *store, int64_t id, struct arena *arena, struct job_why *out,
                          pawl_error *err) {
    struct model *model = model_enter(store);
    const struct mjob *job = model_job_find(model->jobs, id);
    if (job == NULL)
        return model_leave(model, error_set(err, PAWL_NOT_FOUND, "job_why", "there is no unfinished job %lld",
                                            (long long)id));
    struct job_why why = {.row = model_job_row_give(job, arena), .now_ms = model->now_ms};
    switch (job->row.state) {
    case JOB_READY:
        why_ready(model, job, &why);
        break;
    case JOB_RUNNING:
        why.until_ms = job->row.job.lease_until_ms;
        why.cause = why.until_ms <= model->now_ms ? JOB_WHY_LEASE_OVER : JOB_WHY_RUNNING;
        break;
    case JOB_LATER:
        why.cause = JOB_WHY_LATER;
        why.until_ms = job->row.job.due_ms;
        break;
    case JOB_WAITING:
        why.cause = JOB_WHY_WAITING;
        why.until_ms = job->row.job.due_ms == JOBRULE_NEVER ? 0 : job->row.job.due_ms;
        break;
    case JOB_DEAD:
        why.cause = JOB_WHY_DEAD;
        break;
    }
    *out = why;
    return model_leave(model, PAWL_OK);
}

static int by_size(const void *a, const void *b) {
    const struct job_dead_group *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return str_compare(x->fingerprint, y->fingerprint);
}

pawl_status model_job_dead_groups(struct store *store, int limit, struct arena *arena,
                                  struct job_dead_groups *out, pawl_error *err) {
    pawl_status status = check_list_limit("job_dead_groups", limit, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct model_jobs *jobs = model->jobs;
    struct job_dead_groups list = {arena_array(arena, jobs->jobs.count, sizeof *list.groups), 0};
    if (list.groups == NULL)
        return model_leave(model,
                           error_set(err, PAWL_NO_MEMORY, "job_dead_groups", "no memory for the groups"));
    for (size_t i = 0; i < jobs->jobs.count; i++) {
        const struct mjob *job = PILE(jobs->jobs, struct mjob, i);
        if (job->row.state != JOB_DEAD)
            continue;
        size_t at = 0;
        while (at < list.count && !str_equal(list.groups[at].fingerprint, job->row.fingerprint))
            at++;
        struct job_dead_group *group = &list.groups[at];
        if (at == list.count) {
            list.count++;
            *group = (struct job_dead_group){.fingerprint = model_give(arena, job->row.fingerprint),
                                             .first_ms = job->row.died_ms};
        }
        group->count++;
        group->first_ms = job->row.died_ms < group->first_ms ? job->row.died_ms : group->first_ms;
        if (job->row.died_ms >= group->last_ms) {
            group->last_ms = job->row.died_ms;
            group->sample_error = model_give(arena, job->row.error);
        }
    }
    qsort(list.groups, list.count, sizeof *list.groups, by_size);
    list.count = list.count < (size_t)limit ? list.count : (size_t)limit;
    *out = list;
    return model_leave(model, PAWL_OK);
}

/* Where a priority is or belongs in the list, the highest first. */
static struct job_priority *priority_of(struct job_backlog *backlog, int priority) {
    size_t at = 0;
    while (at < backlog->count && backlog->priorities[at].priority > priority)
        at++;
    struct job_priority *found = &backlog->priorities[at];
    if (at < backlog->count && found->priority == priority)
        return found;
    memmove(found + 1, found, (backlog->count++ - at) * sizeof *found);
    *found = (struct job_priority){.priority = priority};
    return found;
}

pawl_status model_job_backlog(struct store *store, int look_max, struct arena *arena, struct job_backlog *out,
                              pawl_error *err) {
    pawl_status status = check_backlog_look(look_max, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    const struct pile *jobs = &model->jobs->jobs;
    int64_t ready = 0, later = 0;
    struct job_backlog backlog = {.priorities = arena_array(arena, jobs->count, sizeof(struct job_priority))};
    if (backlog.priorities == NULL)
        return model_leave(model, error_set(err, PAWL_NO_MEMORY, "job_backlog", "no memory for the counts"));
    for (size_t i = 0; i < jobs->count; i++) {
        const struct job_row *row = &PILE(*jobs, struct mjob, i)->row;
        bool over = row->state == JOB_RUNNING && row->job.lease_until_ms <= model->now_ms;
        if (row->state == JOB_READY && ready < look_max) {
            priority_of(&backlog, row->job.priority)->ready++;
            ready++;
        } else if ((row->state == JOB_LATER || row->state == JOB_WAITING) && later < look_max) {
            priority_of(&backlog, row->job.priority)->later++;
            later++;
        }
        backlog.overdue += over && backlog.overdue < look_max;
    }
    backlog.all = ready < look_max && later < look_max;
    *out = backlog;
    return model_leave(model, PAWL_OK);
}

pawl_status model_job_counts(struct store *store, struct arena *arena, struct job_counts_list *out,
                             pawl_error *err) {
    struct model *model = model_enter(store);
    struct model_jobs *jobs = model->jobs;
    struct job_counts_list list = {arena_array(arena, jobs->counts.count, sizeof *list.queues),
                                   jobs->counts.count, model->now_ms};
    if (list.queues == NULL)
        return model_leave(model, error_set(err, PAWL_NO_MEMORY, "job_counts", "no memory for the counts"));
    for (size_t i = 0; i < list.count; i++) {
        list.queues[i] = *PILE(jobs->counts, struct job_counts, i);
        int64_t first = INT64_MAX;
        for (size_t n = 0; n < jobs->jobs.count; n++) {
            const struct mjob *job = PILE(jobs->jobs, struct mjob, n);
            if (job->row.state != JOB_READY || !str_absent(job->row.job.key) || job->ord >= first ||
                !str_equal(job->row.job.queue, list.queues[i].queue))
                continue;
            first = job->ord;
            list.queues[i].oldest_ready_ms = job->row.job.due_ms;
        }
        list.queues[i].queue = model_give(arena, list.queues[i].queue);
    }
    *out = list;
    return model_leave(model, PAWL_OK);
}

const char *model_jobs_fault(struct model *model) {
    struct model_jobs *jobs = model->jobs;
    for (size_t i = 0; i < jobs->jobs.count; i++) {
        const struct mjob *job = PILE(jobs->jobs, struct mjob, i);
        const struct mclaim *claim = model_claim_find(jobs, job->row.job.token);
        if ((job->row.state == JOB_RUNNING) != (claim != NULL && claim->active && job->row.job.token > 0))
            return "job_running_has_claim";
    }
    for (size_t i = 0; i < jobs->claims.count; i++) {
        const struct mclaim *claim = PILE(jobs->claims, struct mclaim, i);
        for (size_t n = 0; n < claim->ids.count; n++) {
            const struct mjob *job = model_job_find(jobs, *PILE(claim->ids, int64_t, n));
            if (job == NULL || job->row.job.token != claim->token)
                return "job_claim_ids_match";
        }
    }
    for (size_t i = 0; i < jobs->keys.count; i++) {
        const struct mkey *key = PILE(jobs->keys, struct mkey, i);
        int running = 0;
        for (size_t n = 0; n < jobs->jobs.count; n++) {
            const struct mjob *job = PILE(jobs->jobs, struct mjob, n);
            running += job->row.state == JOB_RUNNING && !str_absent(job->row.job.key) &&
                       str_equal(job->row.job.key, key->key);
        }
        if (running != key->running)
            return "job_key_running_matches";
    }
    for (size_t i = 0; i < jobs->counts.count; i++) {
        const struct job_counts *counts = PILE(jobs->counts, struct job_counts, i);
        int64_t states[JOB_DEAD + 1] = {0};
        for (size_t n = 0; n < jobs->jobs.count; n++)
            if (str_equal(PILE(jobs->jobs, struct mjob, n)->row.job.queue, counts->queue))
                states[PILE(jobs->jobs, struct mjob, n)->row.state]++;
        if (states[JOB_READY] != counts->ready || states[JOB_RUNNING] != counts->running ||
            states[JOB_LATER] != counts->later || states[JOB_WAITING] != counts->waiting ||
            states[JOB_DEAD] != counts->dead)
            return "job_tally_matches_tables";
    }
    return NULL;
}
