/* The jobs interface of the stores: pooled work (docs/jobs.md). */
#ifndef STORE_JOBS_H
#define STORE_JOBS_H

#include "store/tasks.h"

struct store;

/* Bit of pooled work in instance_new.kinds and in wait_begin: jobs have no lanes. */
#define KIND_BIT_JOBS (1 << 4)

enum job_state { JOB_READY = 1, JOB_RUNNING, JOB_LATER, JOB_WAITING, JOB_DEAD, JOB_STATE_LAST = JOB_DEAD };

/* Bits of job_new.flags. */
enum job_flags {
    JOB_AUDIT = 1,  /* every execution leaves a task_run row */
    JOB_EVENTS = 2, /* and an event on the spine */
    /* Not for job_new: set by the store when workers die. JOB_RUN is 4. */
    JOB_LOST = 8,     /* a worker that reports starts died while holding it, without having started it */
    JOB_SUSPECT = 16, /* lost twice: its start must be reported first, by renewing it */
    JOB_BEGUN = 32,   /* it was renewed under its token, so it has started */
    JOB_LOSS_FLAGS = JOB_LOST | JOB_SUSPECT | JOB_BEGUN
};

/* One job to enqueue. ptr NULL = absent. */
struct job_new {
    pawl_str task;        /* absent: none; a task provides absent members (docs/jobs.md) */
    pawl_str agent;       /* the agent whose work enqueues it; absent: its task's */
    pawl_str type;        /* names its handler; required without a task */
    pawl_str payload;     /* JSON; absent: the task's parameters, else {} */
    pawl_str queue;       /* absent: "default" */
    pawl_str key;         /* concurrency, rate and fairness; absent: none, the cheap path */
    pawl_str unique_key;  /* held while the job is unfinished; absent: none */
    pawl_str traceparent; /* may be absent */
    int priority;         /* -1000 … 1000; one step is worth PAWL_JOB_AGING_MS of waiting */
    int max_attempts;     /* 0 = PAWL_JOB_ATTEMPTS_DEFAULT */
    int flags;            /* enum job_flags */
    int64_t due_ms;       /* absolute; 0 = now + delay_ms */
    int64_t delay_ms;     /* 0 or more */
    int64_t deadline_ms;  /* absolute; neither started nor retried after this; 0 = none */
    int64_t timeout_ms;   /* of one execution, enforced by the worker; 0 = the worker's own */
};

struct jobs_enqueue {
    const struct job_new *jobs;
    size_t count;
    pawl_uuid request;        /* nil = none */
    size_t payload_bytes_max; /* 0 = PAWL_PAYLOAD_BYTES_DEFAULT */
};

/* ids[i] is 0 unless answers[i] is applied, or duplicate by a unique key (then the job that holds it). */
struct enqueue_result {
    enum store_answer *answers; /* applied, duplicate, not found (task), refused (scopes) */
    int64_t *ids;
};

/* One job, granted or shown. */
struct job {
    int64_t id;
    int64_t token;          /* 0 unless running */
    int64_t lease_until_ms; /* 0 unless running */
    pawl_str type, queue, payload, task, key, unique_key, traceparent, schedule, progress;
    pawl_str agent; /* the agent it belongs to, as does everything it creates; absent: none */
    int priority;
    int attempts; /* leases taken and not given back, including the running one */
    int max_attempts;
    int flags;
    int64_t put_ms, due_ms, deadline_ms, timeout_ms;
    int64_t instant_ms; /* of the schedule that fired it; 0 = none */
    int64_t cancel_ms;  /* when cancellation was requested; 0 = never */
};

/* A worker with slots renews it right before starting it, so that a death is charged only to what had
 * started. */
static inline bool job_renew_first(const struct job *job) {
    return job->attempts >= job->max_attempts || (job->flags & JOB_SUSPECT) != 0;
}

ROW_LIST(job_list, struct job, jobs);

struct jobs_claim {
    pawl_uuid instance;
    pawl_str queue;    /* absent: "default" */
    int max;           /* 0 … PAWL_BATCH_MAX; 0 = nothing (finish only) */
    int64_t lease_ms;  /* PAWL_LEASE_MS_MIN … MAX */
    pawl_uuid request; /* nil = none */
};

enum job_outcome {
    JOB_COMPLETE = 1,
    JOB_FAIL,
    JOB_SNOOZE,  /* the handler asked for later: the attempt is not counted */
    JOB_RELEASE, /* the worker gives it back unfinished, with an error if it cannot run it: no attempt is
                    counted */
    JOB_WAIT     /* parked until jobs_wake(wait_key) or delay_ms; the attempt is not counted */
};

/* The result of an applied item that was not completed. */
enum job_result { JOB_RESULT_NONE = 0, JOB_RESULT_RETRY, JOB_RESULT_DEAD, JOB_RESULT_CANCELLED };

struct job_ref {
    int64_t token;
    int64_t id;
};

struct finish_item {
    struct job_ref ref;
    enum job_outcome outcome;
    enum error_class_in error_class;  /* FAIL only */
    bool refused;                     /* FAIL, permanent: scopes were missing; error says which */
    int64_t delay_ms;                 /* FAIL: -1 = backoff; SNOOZE, RELEASE: from now; WAIT: -1 = no end */
    int64_t duration_ms;              /* of the execution, by the worker's monotonic clock */
    pawl_str output;                  /* COMPLETE: JSON, may be absent */
    pawl_str error;                   /* FAIL */
    pawl_str steps;                   /* step timings for the audit, JSON, may be absent */
    pawl_str input_hash, output_hash; /* hex, for the audit, may be absent */
    pawl_str wait_key, wait_step;     /* WAIT: the signal, and the step that gets its payload */
};

/* Reports of many jobs and the next claim, one transaction, one round trip. */
struct jobs_finish {
    pawl_uuid instance;
    const struct finish_item *items;
    size_t count;
    struct jobs_claim claim; /* .instance is ignored; .max 0 = none */
};

struct finish_result {
    enum store_answer *answers; /* applied, duplicate, stale */
    enum job_result *results;
    size_t count;
    struct job_list jobs; /* the next claim */
};

struct renew_item {
    struct job_ref ref;
    pawl_str progress; /* JSON the handler can resume from; absent = leave it */
};

struct jobs_renew {
    pawl_uuid instance;
    const struct renew_item *items;
    size_t count;
    int64_t lease_ms;
};

struct renew_result {
    enum store_answer *answers; /* applied or stale */
    bool *cancel;               /* cancellation was requested: stop, then report it as failed */
    size_t count;
};

struct job_answers {
    enum store_answer *answers;
    size_t count;
};

/* A finished step of a pipeline. */
enum job_step_state { JOB_STEP_DONE = 1, JOB_STEP_FAILED, JOB_STEP_SKIPPED, JOB_STEP_WAITING };

/* A failed or waiting step may be overwritten. */
static inline bool job_step_open(enum job_step_state state) {
    return state == JOB_STEP_FAILED || state == JOB_STEP_WAITING;
}

struct job_step {
    pawl_str step;
    int index; /* of foreach; 0 without */
    enum job_step_state state;
    int attempt;
    pawl_str output, error; /* may be absent */
    pawl_str input_hash, output_hash;
    int64_t started_ms,
        finished_ms;     /* written: finished_ms is the store's now, started_ms = now - duration */
    int64_t duration_ms; /* of the call */
};

/* The attempt of a waiting step: the job's own attempts do not count while it waits. */
enum { JOB_STEP_WAIT_ATTEMPT = 1 };

struct steps_put {
    pawl_uuid instance;
    struct job_ref ref;
    const struct job_step *steps;
    size_t count;
};

ROW_LIST(job_steps, struct job_step, steps); /* by (step, index) */

struct job_wake {
    pawl_str wait_key;
    pawl_str payload; /* JSON; absent: null */
    int64_t keep_ms;  /* if no job is waiting: keep it this long for one that waits later; 0 = drop it */
};

struct wake_result {
    int64_t woken;
    bool kept;
};

/* Limits of a key, or of each key that begins with the text before "*" ("tenant:*"; the part before the first
 * colon decides). */
struct job_limit {
    pawl_str key;
    int concurrency; /* running at once in the whole fleet; 0 = no limit */
    int rate;        /* starts per rate_ms, 0 = no limit */
    int64_t rate_ms;
    int weight; /* share against other keys, 1 … 1000 */
};

ROW_LIST(job_limits, struct job_limit, limits);

/* A job in any state. */
struct job_row {
    struct job job;
    enum job_state state;
    pawl_uuid instance; /* nil unless running */
    pawl_str error, wait_key, wait_step, fingerprint;
    int reason; /* enum job_dead_reason */
    int64_t died_ms;
};

enum job_dead_reason {
    JOB_DEAD_ATTEMPTS = 1,
    JOB_DEAD_PERMANENT,
    JOB_DEAD_KILLED, /* its last attempt ended with its worker or its lease */
    JOB_DEAD_DEADLINE,
    JOB_DEAD_REFUSED
};

struct job_rows {
    struct job_row *rows;
    size_t count;
    int64_t next_id; /* after_id of the next page; 0 = that was all */
};

/* AND; absent or 0 = any. By id; after_id is the keyset cursor. A page is every matching job with after_id <
 * id <= next_id: it may end early, or even be empty, because the number of rows examined is limited. */
struct job_filter {
    int64_t id;
    int state; /* enum job_state */
    pawl_str queue, task, type, key, fingerprint;
    int64_t after_id;
    int limit;
    int scan_max; /* about how many rows are examined; 0 = PAWL_LIST_SCAN */
};

struct job_counts {
    pawl_str queue;
    int64_t ready, running, later, waiting, dead;                                 /* gauges */
    int64_t put, done, failed, lost, died, cancelled, redriven, discarded, stale; /* counters */
    int64_t oldest_ready_ms; /* due_ms of the first in order; 0 = none */
};

/* Jobs that may still run by themselves: all states but dead. */
static inline int64_t job_counts_unfinished(const struct job_counts *counts) {
    return counts->ready + counts->running + counts->later + counts->waiting;
}

struct job_counts_list {
    struct job_counts *queues; /* by name */
    size_t count;
    int64_t now_ms;
};

/* What is waiting at one priority, among the rows examined. */
struct job_priority {
    int priority;
    int64_t ready, later; /* later: not due, or waiting for a signal */
};

struct job_backlog {
    struct job_priority *priorities; /* the highest first */
    size_t count;
    int64_t overdue; /* running, but the lease has expired; counted up to look_max */
    bool all;        /* false: look_max ready or later ones were examined, and there may be more */
};

struct job_dead_group {
    pawl_str fingerprint, sample_error;
    int64_t count, first_ms, last_ms;
};

ROW_LIST(job_dead_groups, struct job_dead_group, groups); /* biggest first */

enum job_why_cause {
    JOB_WHY_RUNNING = 1,
    JOB_WHY_LEASE_OVER,  /* the next sweep recovers it */
    JOB_WHY_READY,       /* `ahead` others of its queue come first (counted up to PAWL_LIST_MAX) */
    JOB_WHY_NO_WORKER,   /* ready, but no live instance is registered for jobs */
    JOB_WHY_CONCURRENCY, /* its key runs as many as it may */
    JOB_WHY_RATE,        /* its key may start again at until_ms */
    JOB_WHY_LATER,       /* not before until_ms */
    JOB_WHY_WAITING,     /* for row.wait_key, at most until until_ms (0: no end) */
    JOB_WHY_DEAD,
    JOB_WHY_PAUSED /* its queue is, until a resume */
};

struct job_why {
    enum job_why_cause cause;
    struct job_row row;
    int64_t until_ms, ahead, now_ms;
    int limit, running; /* CONCURRENCY */
};

struct jobs_maintain_result {
    int64_t runs_removed, claims_removed, fires_removed, signals_removed, refusals_removed, spine_removed,
        tally_folded;
    int64_t leases_expired; /* jobs recovered from dead or late workers */
};

/* As core.h: every slot is filled by every store, one transaction each, results in the arena. */
struct store_jobs_ops {
#define OPERATION(name, ...) pawl_status (*name)(struct store * store, __VA_ARGS__);
#include "store/operations/jobs.h"
#undef OPERATION
};

#endif
