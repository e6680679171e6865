/* Claiming jobs: sweep, promote, deadlines, then keyed and plain work in fair turns. */
#include <assert.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/model/jobs.h"

int model_jobs_leased(const struct model *model, pawl_uuid instance) {
    int leased = 0;
    for (size_t i = 0; i < model->jobs->claims.count; i++) {
        const struct mclaim *claim = PILE(model->jobs->claims, struct mclaim, i);
        if (claim->active && uuid_equal(claim->instance, instance))
            leased += (int)claim->ids.count;
    }
    return leased;
}

void model_jobs_sweep(struct model *model, pawl_uuid caller) {
    struct model_jobs *jobs = model->jobs;
    int64_t since = model->now_ms - jobs->swept_ms;
    if (since >= 0 && since < PAWL_JOB_SWEEP_MS)
        return;
    bool any = false;
    for (size_t i = 0; i < jobs->claims.count; i++)
        any = any || PILE(jobs->claims, struct mclaim, i)->active;
    if (!any)
        return;
    jobs->swept_ms = model->now_ms;
    int looked = 0;
    for (size_t i = 0; i < jobs->claims.count && looked < PAWL_JOB_SWEEP_CLAIMS; i++) {
        struct mclaim *claim = PILE(jobs->claims, struct mclaim, i);
        if (!claim->active)
            continue;
        const struct instance *instance = model_instance_find(model, claim->instance);
        bool gone = instance == NULL || !model_instance_live(model, instance);
        if (!gone && claim->check_ms > model->now_ms)
            continue;
        model_claim_lose(model, claim, gone, false, caller);
        looked++;
    }
}

static int by_due(const void *a, const void *b) {
    const struct mjob *x = *(struct mjob *const *)a, *y = *(struct mjob *const *)b;
    if (x->row.job.due_ms != y->row.job.due_ms)
        return x->row.job.due_ms < y->row.job.due_ms ? -1 : 1;
    return x->row.job.id < y->row.job.id ? -1 : 1;
}

static int by_ord(const void *a, const void *b) {
    const struct mjob *x = *(struct mjob *const *)a, *y = *(struct mjob *const *)b;
    if (x->ord != y->ord)
        return x->ord < y->ord ? -1 : 1;
    return x->row.job.id < y->row.job.id ? -1 : 1;
}

static int by_deadline(const void *a, const void *b) {
    const struct mjob *x = *(struct mjob *const *)a, *y = *(struct mjob *const *)b;
    if (x->row.job.deadline_ms != y->row.job.deadline_ms)
        return x->row.job.deadline_ms < y->row.job.deadline_ms ? -1 : 1;
    return x->row.job.id < y->row.job.id ? -1 : 1;
}

/* Which jobs of the pile are meant; sorted. The caller frees. */
struct choice {
    bool (*fits)(const struct mjob *job, const struct choice *choice);
    int (*order)(const void *a, const void *b);
    int64_t now_ms;
    pawl_str queue, key;
};

static struct mjob **choose(struct model_jobs *jobs, const struct choice *choice, size_t *count) {
    struct mjob **list = model_alloc((jobs->jobs.count + 1) * sizeof(struct mjob *));
    *count = 0;
    for (size_t i = 0; i < jobs->jobs.count; i++) {
        struct mjob *job = PILE(jobs->jobs, struct mjob, i);
        if (choice->fits(job, choice))
            list[(*count)++] = job;
    }
    if (*count > 0)
        qsort(list, *count, sizeof(struct mjob *), choice->order);
    return list;
}

static bool is_due(const struct mjob *job, const struct choice *choice) {
    return (job->row.state == JOB_LATER || job->row.state == JOB_WAITING) &&
           job->row.job.due_ms <= choice->now_ms;
}

static void promote(struct model *model) {
    size_t count = 0;
    struct mjob **due =
        choose(model->jobs, &(struct choice){is_due, by_due, model->now_ms, {0}, {0}}, &count);
    for (size_t i = 0; i < count && i < PAWL_JOB_PROMOTE_MAX; i++) {
        due[i]->row.wait_key = due[i]->row.wait_step = (pawl_str){NULL, 0};
        model_job_state(model->jobs, due[i], JOB_READY);
    }
    free(due);
}

static bool is_overdue(const struct mjob *job, const struct choice *choice) {
    return job->row.state == JOB_READY && job->row.job.deadline_ms > 0 &&
           job->row.job.deadline_ms <= choice->now_ms;
}

static void deadlines(struct model *model, pawl_uuid caller) {
    size_t count = 0;
    struct mjob **over =
        choose(model->jobs, &(struct choice){is_overdue, by_deadline, model->now_ms, {0}, {0}}, &count);
    for (size_t i = 0; i < count && i < PAWL_JOB_PROMOTE_MAX; i++) {
        model_record_run(model, over[i], &(struct mend){.outcome = RUN_DEAD});
        model_job_die(model, over[i], JOB_DEAD_DEADLINE, (pawl_str){NULL, 0});
    }
    free(over);
    model_audit_seal(model, caller);
}

static bool is_plain(const struct mjob *job, const struct choice *choice) {
    return job->row.state == JOB_READY && str_absent(job->row.job.key) &&
           str_equal(job->row.job.queue, choice->queue);
}

static bool is_keyed(const struct mjob *job, const struct choice *choice) {
    return job->row.state == JOB_READY && !str_absent(job->row.job.key) &&
           str_equal(job->row.job.queue, choice->queue) &&
           (str_absent(choice->key) || str_equal(job->row.job.key, choice->key));
}

/* The claim that is being made. */
struct grant {
    struct model *model;
    const struct jobs_claim *in;
    pawl_str queue;
    int64_t token;
    struct mjob **jobs;
    size_t count;
};

static void lease(struct grant *grant, struct mjob *job) {
    if (grant->token == 0)
        grant->token = model_token_next(grant->model);
    job->row.job.token = grant->token;
    job->row.job.lease_until_ms = grant->model->now_ms + grant->in->lease_ms;
    job->row.job.attempts++;
    job->row.instance = grant->in->instance;
    model_job_state(grant->model->jobs, job, JOB_RUNNING);
    grant->jobs[grant->count++] = job;
}

static void grant_plain(struct grant *grant, int max) {
    size_t count = 0;
    struct mjob **list =
        choose(grant->model->jobs, &(struct choice){is_plain, by_ord, 0, grant->queue, {0}}, &count);
    for (size_t i = 0; i < count && i < (size_t)max; i++)
        lease(grant, list[i]);
    free(list);
}

/* One entry per key that has a ready job. The caller frees. */
static struct jobrule_key *keys_of(struct grant *grant, size_t *count) {
    struct model_jobs *jobs = grant->model->jobs;
    struct choice all = {is_keyed, by_ord, 0, grant->queue, {0}};
    size_t ready = 0;
    struct mjob **list = choose(jobs, &all, &ready);
    struct jobrule_key *keys = model_alloc((ready + 1) * sizeof *keys);
    *count = 0;
    for (size_t i = 0; i < ready; i++) {
        size_t at = 0;
        while (at < *count && !str_equal(keys[at].key, list[i]->row.job.key))
            at++;
        if (at == *count)
            keys[(*count)++] = model_key_of(jobs, list[i]->row.job.key);
        keys[at].ready++;
    }
    free(list);
    return keys;
}

static int grant_keyed(struct grant *grant, int max) {
    struct model_jobs *jobs = grant->model->jobs;
    size_t count = 0;
    if (max <= 0)
        return 0;
    struct jobrule_key *keys = keys_of(grant, &count);
    int granted = jobrule_share(keys, count, max, grant->model->now_ms, &jobs->vtime);
    for (size_t i = 0; i < count; i++) {
        if (keys[i].granted == 0)
            continue;
        struct mkey *state = model_key_state(jobs, keys[i].key);
        state->running = keys[i].running;
        state->vtime = keys[i].vtime;
        state->tat_us = keys[i].tat_us;
        size_t ready = 0;
        struct choice one = {is_keyed, by_ord, 0, grant->queue, keys[i].key};
        struct mjob **list = choose(jobs, &one, &ready);
        for (int n = 0; n < keys[i].granted; n++)
            lease(grant, list[n]);
        free(list);
    }
    free(keys);
    return granted;
}

static void note_claim(struct grant *grant) {
    struct mclaim claim = {.token = grant->token,
                           .lease_until_ms = grant->model->now_ms + grant->in->lease_ms,
                           .check_ms = grant->model->now_ms + grant->in->lease_ms,
                           .instance = grant->in->instance,
                           .request = grant->in->request,
                           .queue = model_keep(grant->model->jobs, grant->queue),
                           .active = true,
                           .intact = true,
                           .ids.size = sizeof(int64_t),
                           .done.size = sizeof(int64_t)};
    for (size_t i = 0; i < grant->count; i++)
        pile_add(&claim.ids, &grant->jobs[i]->row.job.id);
    pile_add(&grant->model->jobs->claims, &claim);
}

static struct job_list hand_out(struct mjob **jobs, size_t count, struct arena *arena) {
    struct job_list list = {arena_array(arena, count, sizeof *list.jobs), count};
    assert(list.jobs != NULL);
    for (size_t i = 0; i < count; i++)
        list.jobs[i] = model_job_give(&jobs[i]->row.job, arena);
    return list;
}

/* What a repeated request was granted and has not reported. */
static struct job_list again(struct model *model, const struct jobs_claim *in, struct arena *arena) {
    struct model_jobs *jobs = model->jobs;
    struct mjob **list = model_alloc((jobs->jobs.count + 1) * sizeof(struct mjob *));
    size_t count = 0;
    for (size_t i = 0; i < jobs->jobs.count; i++) {
        struct mjob *job = PILE(jobs->jobs, struct mjob, i);
        const struct mclaim *claim =
            job->row.state == JOB_RUNNING ? model_claim_find(jobs, job->row.job.token) : NULL;
        if (claim != NULL && uuid_equal(claim->request, in->request) &&
            uuid_equal(claim->instance, in->instance))
            list[count++] = job;
    }
    if (count > 0)
        qsort(list, count, sizeof(struct mjob *), by_ord);
    struct job_list out = hand_out(list, count, arena);
    free(list);
    return out;
}

struct job_list model_claim_jobs(struct model *model, const struct jobs_claim *in, struct arena *arena) {
    struct model_jobs *jobs = model->jobs;
    if (model_request_find(model, in->request) != NULL)
        return again(model, in, arena);
    model_request_add(model, in->request);
    model_jobs_sweep(model, in->instance);
    promote(model);
    deadlines(model, in->instance);
    struct grant grant = {.model = model, .in = in, .queue = jobs_queue(in->queue)};
    grant.jobs = model_alloc(((size_t)in->max + 1) * sizeof(struct mjob *));
    size_t keyed = 0;
    free(choose(jobs, &(struct choice){is_keyed, by_ord, 0, grant.queue, {0}}, &keyed));
    int first = 0, got = 0;
    if (keyed > 0) {
        first = jobs->turn ? in->max - in->max / 2 : in->max / 2;
        jobs->turn = !jobs->turn;
        got = grant_keyed(&grant, first);
    }
    grant_plain(&grant, in->max - got);
    if (keyed > 0 && got == first)
        (void)grant_keyed(&grant, in->max - (int)grant.count);
    if (grant.count > 0) {
        qsort(grant.jobs, grant.count, sizeof(struct mjob *), by_ord);
        note_claim(&grant);
    }
    struct job_list list = hand_out(grant.jobs, grant.count, arena);
    free(grant.jobs);
    return list;
}

pawl_status model_jobs_claim(struct store *store, const struct jobs_claim *in, struct arena *arena,
                             struct job_list *out, pawl_error *err) {
    pawl_status status = check_jobs_claim(in, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    const struct instance *instance = model_instance_find(model, in->instance);
    if (instance == NULL || !model_instance_live(model, instance))
        return model_leave(model, error_set(err, PAWL_STALE, "jobs_claim",
                                            "this instance was evicted or has fallen silent: register anew"));
    *out = model_claim_jobs(model, in, arena);
    return model_leave(model, PAWL_OK);
}
