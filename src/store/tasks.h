/* The types of tasks, schedules, agents, executions and the spine, for the jobs interface (docs/jobs.md). */
#ifndef STORE_TASKS_H
#define STORE_TASKS_H

#include "base/hash.h"
#include "base/limits.h"
#include "store/types.h"

/* What a schedule does if an earlier job of it is unfinished. */
enum overlap { OVERLAP_ALLOW = 1, OVERLAP_SKIP, OVERLAP_QUEUE };

struct task {
    pawl_str name;
    pawl_str agent;  /* that made it; absent: none, no scopes are checked */
    pawl_str type;   /* of its jobs */
    pawl_str spec;   /* JSON: pipeline, schema of the parameters …; opaque to the store */
    pawl_str params; /* JSON: payload of a job that names none; absent: {} */
    pawl_str scopes; /* JSON array of text: what its tools require; absent: [] */
    pawl_str queue, key;
    int priority, max_attempts, flags;
    int64_t timeout_ms;
    int64_t retention_ms; /* of its task_run rows; 0 = PAWL_RUN_RETENTION_MS_DEFAULT */
    int64_t version;      /* grows with every put; put: the expected one, 0 = any */
    int64_t updated_ms;
};

ROW_LIST(task_list, struct task, tasks); /* by name */

/* What a put answered: applied, conflict (another version), refused (missing holds a scope), not found (agent
 * or task). */
struct put_answer {
    enum store_answer answer;
    int64_t version;
    pawl_str missing;
};

enum job_schedule_kind { JOB_SCHEDULE_ONCE = 1, JOB_SCHEDULE_AT, JOB_SCHEDULE_INTERVAL, JOB_SCHEDULE_CRON };
enum missed_policy { MISSED_SKIP = 1, MISSED_ONE, MISSED_ALL };

struct job_schedule {
    pawl_str name, task;
    enum job_schedule_kind kind;
    pawl_str expr;   /* cron text, interval or instant as written */
    pawl_str zone;   /* IANA name; absent: UTC */
    pawl_str params; /* payload of its jobs; absent: the task's */
    enum missed_policy missed;
    int missed_max; /* MISSED_ALL */
    enum overlap overlap;
    int64_t jitter_ms;
    int64_t start_ms, end_ms; /* 0 = none */
    bool paused;
    int64_t next_ms; /* the next instant, computed by domain/cron; 0 = none */
    int64_t last_ms; /* the highest instant that fired or was skipped */
    int64_t version; /* as task.version; schedule_fire does not change it */
    int64_t updated_ms;
};

struct job_schedule_list {
    struct job_schedule *schedules; /* by name; due ones by (next_ms, name) */
    size_t count;
    int64_t now_ms;
};

struct schedule_filter {
    pawl_str name, task; /* absent = any */
    bool due;            /* only those that are not paused with 0 < next_ms <= now */
    pawl_str after_name; /* keyset cursor; not with due */
    int limit;
};

/* Fires some instants and moves the schedule on. */
struct schedule_fire {
    pawl_str name;
    int64_t
        version; /* the version that the instants were computed from; otherwise nothing happens, conflict */
    int64_t after_ms; /* last_ms of the schedule that they were computed from; conflict if it is lower now:
                         the store went back, and the instants between would be lost */
    const int64_t *instants; /* ascending; those to fire */
    const int64_t *due_ms;   /* when each job is due (instant + jitter) */
    size_t count;
    int64_t through_ms; /* every instant up to here is decided: fired or skipped */
    int64_t next_ms;    /* the first instant after through_ms; 0 = none */
};

struct fire_result {
    enum store_answer answer; /* applied, conflict (version, after_ms), not found */
    enum store_answer
        *answers; /* per instant: applied, duplicate (it had fired), conflict (overlap: skipped) */
    int64_t *ids; /* jobs; 0 unless applied */
};

struct agent {
    pawl_str name;
    pawl_str scopes; /* JSON array of text */
    bool disabled;
    int64_t updated_ms;
};

ROW_LIST(agent_list, struct agent, agents);

struct refusal {
    int64_t id;
    pawl_str agent, task, missing;
    int64_t job_id; /* 0: refused before there was one */
    int64_t made_ms;
};

ROW_LIST(refusal_list, struct refusal, refusals); /* newest first */

enum run_outcome { RUN_SUCCEEDED = 1, RUN_FAILED, RUN_DEAD, RUN_CANCELLED, RUN_LOST };

/* One execution. success is outcome == RUN_SUCCEEDED; lease_owner is instance. */
struct task_run {
    int64_t id, job_id;
    pawl_str task, type, queue;
    int attempt;
    pawl_uuid instance;
    int64_t token, started_ms, finished_ms;
    enum run_outcome outcome;
    pawl_str output, error, steps, input_hash, output_hash;
    pawl_str hash; /* hex */
};

struct task_run_list {
    struct task_run *runs; /* newest first */
    size_t count;
    int64_t next_id; /* before_id of the next page; 0 = that was all */
};

/* A page is every execution that fits with next_id <= id < before_id: it may end early, even empty, because
 * the number of rows of the task or the job it looks at is limited. */
struct run_filter {
    pawl_str task; /* absent = any */
    int64_t job_id;
    int outcome;
    int64_t since_ms;  /* finished then or later */
    int64_t before_id; /* keyset cursor; 0 = from the newest */
    int limit;
    int scan_max; /* how many rows are looked at; 0 = PAWL_LIST_SCAN */
};

/* How many rows a page looks at: without a condition on the rows themselves no more than it shows. */
static inline int run_filter_scan(const struct run_filter *filter) {
    int scan = filter->scan_max > 0 ? filter->scan_max : PAWL_LIST_SCAN;
    bool any = filter->outcome == 0 && filter->since_ms <= 0;
    return any ? filter->limit : scan;
}

/* Sums over executions. */
struct run_sums {
    int64_t runs, succeeded, duration_ms;
    int64_t workers; /* that ended any of them */
};

struct audit_report {
    int64_t chains, blocks, anchors, rows, removed; /* removed: rows that retention took; their hashes stay */
    bool sound;
    pawl_str fault; /* the first one */
};

/* The last anchor: the heads of all chains under one hash, to be kept where the database's owner cannot
 * reach. */
struct audit_head {
    int64_t number, made_ms; /* 0 = there is none yet */
    char hash[SHA256_TEXT_BYTES];
};

struct spine_event {
    int64_t id, job_id;
    enum run_outcome outcome;
    pawl_str
        event_type; /* the same as a word: job.succeeded, job.failed, job.dead, job.cancelled, job.lost */
    pawl_str task, type;
    pawl_uuid instance;
    int attempt;
    int64_t made_ms;
    pawl_str payload; /* the output; absent unless succeeded */
    pawl_str error;
};

ROW_LIST(spine_events, struct spine_event, events);

#endif
