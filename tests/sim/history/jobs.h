/* The history checker's records of jobs: what the store answered and what their handlers did, held against
 * docs/jobs.md. Jobs are known by the store's ids, which are small in a fresh store. */
#ifndef SIM_HISTORY_JOBS_H
#define SIM_HISTORY_JOBS_H

#include "sim/history/fairness.h"

enum history_job_at {
    AT_UNKNOWN = 0, /* nobody has heard of it */
    AT_OPEN,        /* ready or later */
    AT_GRANTED,
    AT_WAITING,
    AT_DONE,
    AT_CANCELLED,
    AT_DISCARDED,
    AT_DEAD
};

struct history_job {
    enum history_job_at at;
    int64_t token, lease_until_ms;
    int64_t heard_ms; /* when it was granted or renewed */
    int64_t due_ms;   /* -1: nobody knows exactly */
    int64_t deadline_ms, instant_ms;
    int instance;
    int priority, attempts, max_attempts;
    int key, unique;      /* -1 = none */
    bool of_run, watched; /* watched: its place in the order is known, so that it may be checked */
    bool begun;           /* renewed under its token */
    bool unsure;          /* its attempts may be one fewer */
    bool cancel;          /* its cancellation was requested */
    int kills;
    int runs; /* newest; -1 = none */
};

/* A run of a job under a token, and what was reported of it. */
struct history_job_run {
    int64_t id, token;
    int next;
    bool ran, running, effect, reported;
};

struct history_jobs {
    struct history *h;
    struct history_job *jobs; /* by id */
    size_t capacity, count;
    struct history_job_run *runs;
    size_t run_count, run_capacity;
    int64_t unique[HISTORY_KEYS_MAX]; /* the job that holds it, if known; 0 = none */
    int limit[HISTORY_KEYS_MAX];      /* at once; 0 = none */
    bool rated[HISTORY_KEYS_MAX];     /* it may wait for its rate: it cannot starve */
    struct history_turns turns;
    int64_t token_max;
    size_t open;
    uint64_t accepted, granted, lost;
};

void history_jobs_init(struct history_jobs *j, struct history *h);
void history_jobs_free(struct history_jobs *j);
/* The store is again what it was when the copy was made: what handlers did stays done, what was reported
 * since is not. Takes over what the copy has. */
void history_jobs_go_back(struct history_jobs *j, struct history_jobs *copy);
/* The record of a job, made when it is new. Valid until the next call. */
struct history_job *history_job(struct history_jobs *j, int64_t id);

/* What the store answered. */
struct history_job_new {
    int key, unique, priority, max_attempts;
    int64_t due_ms, deadline_ms, now_ms;
    bool of_run;
};
void history_job_put(struct history_jobs *j, int64_t id, const struct history_job_new *in);
/* A unique key was answered as held by that job. */
void history_job_held(struct history_jobs *j, int unique, int64_t id);
void history_jobs_granted(struct history_jobs *j, const struct job_list *list, int instance, int64_t now_ms);
void history_job_reported(struct history_jobs *j, int instance, const struct finish_item *item,
                          enum store_answer answer, enum job_result result, int64_t now_ms);
void history_job_renewed(struct history_jobs *j, int instance, struct job_ref ref, enum store_answer answer,
                         int64_t lease_ms, int64_t now_ms);
void history_jobs_settled(struct history_jobs *j, int instance, const struct grants_settle *known,
                          int64_t now_ms);
void history_jobs_left(struct history_jobs *j, int instance, int64_t now_ms);
void history_job_cancelled(struct history_jobs *j, int64_t id, enum store_answer answer, int64_t now_ms);
void history_job_redriven(struct history_jobs *j, int64_t id, bool discarded, enum store_answer answer,
                          int64_t now_ms);
/* It waited for a signal, which came. */
void history_job_woken(struct history_jobs *j, int64_t id);
/* It ended in a transaction of its own: a page, or a run that removed it. */
void history_job_settled(struct history_jobs *j, int64_t id, int64_t token, enum history_job_at how);

/* What handlers did. */
int history_job_began(struct history_jobs *j, int64_t id, int64_t token, int64_t now_ms);
void history_job_effect(struct history_jobs *j, int run);
void history_job_ended(struct history_jobs *j, int run);
void history_job_killed(struct history_jobs *j, int64_t id);

/* All jobs that the store has, at any time; last: everything must have ended. */
void history_jobs_seen(struct history_jobs *j, const struct job_rows *rows, int64_t now_ms, bool last);

bool history_job_over(const struct history_jobs *j, const struct history_job *job, int64_t now_ms);

#endif
