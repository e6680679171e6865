/* Running a pipeline job: its steps call tools, each finished step is recorded, and a retried job continues
 * after the last of them. */
#ifndef WORK_PIPELINE_RUN_H
#define WORK_PIPELINE_RUN_H

#include "base/stop.h"
#include "handler/tools/tools.h"
#include "work/job_result.h"
#include "work/shared_store.h"

#define PIPELINE_JOB_TYPE "pawl.pipeline" /* of a job with its own pipeline: {"pipeline": …, "params": …} */
#define PIPELINE_WAIT_TOOL "pawl.wait"    /* the step that waits for a signal or a time */

enum {
    PIPELINE_PARALLEL_MAX = 8, /* steps of one job at the same time */
    PIPELINE_PLAN_MS = 50,     /* how long finished steps may wait before replanning */
    PIPELINE_STORE_TRIES = 5   /* of recording a step, before the job is tried again later */
};

struct run_paces;
struct log;

/* What every pipeline of a worker shares, and every page of a run. */
struct pipeline_world_of_worker {
    struct tools *tools;
    struct shared_store *shared;
    const char *const *env; /* names that ${env.NAME} may use */
    size_t env_count;
    struct run_paces *paces;   /* the rate limits of runs */
    struct log *log;           /* from any thread; may be NULL */
    struct observer *observer; /* NULL: nothing is measured */
};

struct pipeline_run_in {
    const struct pipeline_world_of_worker *world;
    const struct job *job;
    pawl_uuid instance;
    int64_t lease_ms;
    int64_t claimed_ms;  /* boot time of the claim: when the store's clock said lease_until_ms - lease_ms */
    int64_t deadline_ms; /* boot time; 0 = none */
    const stop_flag *cancel;
    pawl_str agent;               /* the agent it runs as; absent: none */
    atomic_bool *refused;         /* set when a scope was missing; may be NULL */
    atomic_llong *not_started_ms; /* as tool_call */
    void (*progress)(void *self); /* after each step */
    void *self;
};

/* How long the job should wait because one of its programs cannot be started here; 0 = not the case. */
static inline int64_t pipeline_not_started_ms(const struct pipeline_run_in *in) {
    return in->not_started_ms != NULL ? atomic_load_explicit(in->not_started_ms, memory_order_relaxed) : 0;
}

/* Whether retrying cannot help. */
static inline bool pipeline_is_permanent(pawl_status status) {
    return status == PAWL_INVALID || status == PAWL_NOT_FOUND || status == PAWL_CONFLICT;
}

/* Runs it to its end, or until it has to wait. result->owner is an arena: free it after using the texts. */
void pipeline_run(const struct pipeline_run_in *in, struct job_result_in *result);

#endif
