/* The history checker: jobs from their enqueue to their grant. */
#include "sim/history/jobs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "domain/jobrule.h"
#include "sim/world/alloc.h"

void history_jobs_init(struct history_jobs *j, struct history *h) { *j = (struct history_jobs){.h = h}; }

void history_jobs_free(struct history_jobs *j) {
    free(j->jobs);
    free(j->runs);
    *j = (struct history_jobs){0};
}

void history_jobs_go_back(struct history_jobs *j, struct history_jobs *copy) {
    struct history_job_run *runs = j->runs;
    size_t count = j->run_count, capacity = j->run_capacity;
    for (size_t i = 0; i < count; i++)
        runs[i].reported = i < copy->run_count && copy->runs[i].reported;
    free(copy->runs);
    free(j->jobs);
    *j = *copy;
    *copy = (struct history_jobs){0};
    j->runs = runs;
    j->run_count = count;
    j->run_capacity = capacity;
    for (size_t i = 0; i < j->count; i++)
        j->jobs[i].runs = -1;
    for (size_t i = 0; i < count; i++) {
        if ((size_t)runs[i].id >= j->count)
            continue; /* of a job that is no longer there */
        runs[i].next = j->jobs[runs[i].id].runs;
        j->jobs[runs[i].id].runs = (int)i;
    }
}

struct history_job *history_job(struct history_jobs *j, int64_t id) {
    size_t before = j->capacity;
    j->jobs = sim_grow(j->jobs, &j->capacity, (size_t)id + 1, sizeof(*j->jobs));
    for (size_t i = before; i < j->capacity; i++)
        j->jobs[i] = (struct history_job){.runs = -1};
    if ((size_t)id >= j->count)
        j->count = (size_t)id + 1;
    return &j->jobs[id];
}

/* Whether its holder may no longer count on it. */
bool history_job_over(const struct history_jobs *j, const struct history_job *job, int64_t now_ms) {
    const struct history_instance *i = &j->h->instances[job->instance];
    return job->at != AT_GRANTED || job->lease_until_ms <= now_ms || i->lease_until_ms <= now_ms ||
           i->evicted || i->left || i->revived_ms > job->heard_ms;
}

/* Whether it is certain that the job has not ended. */
static bool certainly_open(const struct history_jobs *j, const struct history_job *job, int64_t now_ms) {
    bool dies = job->deadline_ms > 0 && job->deadline_ms <= now_ms;
    return !dies && (job->at == AT_OPEN || job->at == AT_WAITING ||
                     (job->at == AT_GRANTED && !history_job_over(j, job, now_ms)));
}

static bool ended(enum history_job_at at) {
    return at == AT_DONE || at == AT_CANCELLED || at == AT_DISCARDED;
}

void history_job_put(struct history_jobs *j, int64_t id, const struct history_job_new *in) {
    struct history_job *job = history_job(j, id);
    if (job->at != AT_UNKNOWN) {
        history_violated(j->h, "job_put_once", "job %" PRId64 " was enqueued twice", id);
        return;
    }
    *job = (struct history_job){.at = AT_OPEN,
                                .due_ms = in->due_ms,
                                .deadline_ms = in->deadline_ms,
                                .priority = in->priority,
                                .max_attempts = in->max_attempts,
                                .key = in->key,
                                .unique = in->unique,
                                .of_run = in->of_run,
                                .watched = in->due_ms >= 0,
                                .runs = -1};
    j->open++;
    if (in->unique < 0)
        return;
    const struct history_job *holder = &j->jobs[j->unique[in->unique]];
    if (j->unique[in->unique] > 0 && certainly_open(j, holder, in->now_ms))
        history_violated(j->h, "job_unique",
                         "job %" PRId64 " was accepted while job %" PRId64 " has its unique key", id,
                         j->unique[in->unique]);
    j->unique[in->unique] = id;
}

void history_job_held(struct history_jobs *j, int unique, int64_t id) {
    const struct history_job *holder = history_job(j, id);
    if (id == 0 || holder->unique != unique || ended(holder->at) || holder->at == AT_DEAD)
        history_violated(j->h, "job_unique", "unique key %d is answered as held by job %" PRId64, unique, id);
}

/* The grant before this one ended without a report. */
static void lose(struct history_jobs *j, struct history_job *job, int64_t id, int64_t now_ms) {
    if (job->at != AT_GRANTED)
        return;
    if (!history_job_over(j, job, now_ms))
        history_violated(j->h, "job_taken", "job %" PRId64 " was taken from instance %d, whose lease is good",
                         id, job->instance);
    j->lost++;
    job->attempts -= !job->begun;
    job->at = AT_OPEN;
}

static void check_attempts(struct history_jobs *j, struct history_job *job, const struct job *granted) {
    bool right = granted->attempts == job->attempts + 1 ||
                 (job->unsure && granted->attempts == job->attempts);
    if (!right)
        history_violated(j->h, "job_attempts", "job %" PRId64 " is granted as attempt %d, %d began before",
                         granted->id, granted->attempts, job->attempts);
    job->attempts = granted->attempts;
    job->unsure = false;
}

static void check_concurrency(struct history_jobs *j, int key, int64_t now_ms) {
    int running = 0;
    if (key < 0 || j->limit[key] == 0)
        return;
    for (size_t i = 1; i < j->count; i++)
        running += j->jobs[i].key == key && j->jobs[i].at == AT_GRANTED &&
                   !history_job_over(j, &j->jobs[i], now_ms);
    if (running > j->limit[key])
        history_violated(j->h, "job_limit", "key %d runs %d at once, its limit is %d", key, running,
                         j->limit[key]);
}

static int64_t place(const struct history_job *job) { return jobrule_order(job->due_ms, job->priority); }

static bool certainly_ready(const struct history_job *job, int64_t now_ms) {
    return job->at == AT_OPEN && job->watched && job->due_ms >= 0 && job->due_ms <= now_ms &&
           (job->deadline_ms == 0 || job->deadline_ms > now_ms);
}

/* Jobs without a key, and jobs of one key, are granted by priority and age. */
static void check_priority(struct history_jobs *j, const struct history_job *granted, int64_t id,
                           int64_t now_ms) {
    if (!granted->watched || granted->due_ms < 0)
        return;
    for (size_t i = 1; i < j->count; i++) {
        const struct history_job *other = &j->jobs[i];
        if (other->key != granted->key || !certainly_ready(other, now_ms))
            continue;
        if (place(other) < place(granted) || (place(other) == place(granted) && (int64_t)i < id)) {
            history_violated(j->h, "job_priority", "job %" PRId64 " was granted, job %zu comes first", id, i);
            return;
        }
    }
}

static bool key_full(const struct history_jobs *j, int key) {
    int held = 0;
    for (size_t i = 1; key >= 0 && j->limit[key] > 0 && i < j->count; i++)
        held += j->jobs[i].key == key && j->jobs[i].at == AT_GRANTED;
    return key >= 0 && (j->rated[key] || (j->limit[key] > 0 && held >= j->limit[key]));
}

/* No key, and no job without one, waits while the others are granted. */
static void check_turn(struct history_jobs *j, const struct job_list *list, int64_t now_ms) {
    int granted[HISTORY_CLASSES] = {0};
    bool could[HISTORY_CLASSES] = {0};
    for (size_t i = 0; i < list->count; i++) {
        int key = j->jobs[list->jobs[i].id].key;
        granted[key >= 0 ? key : HISTORY_NO_KEY]++;
    }
    for (size_t i = 1; i < j->count; i++) {
        const struct history_job *job = &j->jobs[i];
        if (certainly_ready(job, now_ms) && !key_full(j, job->key))
            could[job->key >= 0 ? job->key : HISTORY_NO_KEY] = true;
    }
    history_turn(j->h, &j->turns, granted, could);
}

static void granted_one(struct history_jobs *j, const struct job *granted, int instance, int64_t now_ms) {
    struct history_job *job = history_job(j, granted->id);
    if (job->at == AT_UNKNOWN) {
        history_violated(j->h, "job_unknown", "job %" PRId64 " is granted and was never enqueued",
                         granted->id);
        return;
    }
    if (job->at == AT_GRANTED && job->token == granted->token && job->instance == instance)
        return; /* the same call again */
    if (ended(job->at) || job->at == AT_DEAD)
        history_violated(j->h, "job_ended", "job %" PRId64 " is granted and has ended (%d)", granted->id,
                         (int)job->at);
    if (job->cancel)
        history_violated(j->h, "job_cancel", "job %" PRId64 " is granted and was cancelled", granted->id);
    if (job->deadline_ms > 0 && job->deadline_ms <= now_ms)
        history_violated(j->h, "job_deadline", "job %" PRId64 " is granted %" PRId64 " ms after its deadline",
                         granted->id, now_ms - job->deadline_ms);
    if (granted->token <= job->token)
        history_violated(j->h, "job_token", "job %" PRId64 " is granted under %" PRId64 " after %" PRId64,
                         granted->id, granted->token, job->token);
    lose(j, job, granted->id, now_ms);
    if (job->at == AT_OPEN && job->due_ms > now_ms)
        history_violated(j->h, "job_early", "job %" PRId64 " is granted %" PRId64 " ms before it is due",
                         granted->id, job->due_ms - now_ms);
    check_attempts(j, job, granted);
    job->at = AT_GRANTED;
    job->token = granted->token;
    job->lease_until_ms = granted->lease_until_ms;
    job->heard_ms = now_ms;
    job->instance = instance;
    job->begun = false;
    j->granted++;
}

void history_jobs_granted(struct history_jobs *j, const struct job_list *list, int instance, int64_t now_ms) {
    for (size_t i = 0; i < list->count; i++)
        granted_one(j, &list->jobs[i], instance, now_ms);
    for (size_t i = 0; i < list->count && !j->h->violated; i++) {
        const struct history_job *job = &j->jobs[list->jobs[i].id];
        check_concurrency(j, job->key, now_ms);
        if (list->jobs[i].token > j->token_max)
            check_priority(j, job, list->jobs[i].id, now_ms);
    }
    if (list->count > 0 && list->jobs[0].token > j->token_max) {
        j->token_max = list->jobs[0].token;
        check_turn(j, list, now_ms);
    }
}
