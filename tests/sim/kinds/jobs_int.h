/* What the job side of a simulated worker and its slots share. */
#ifndef SIM_KINDS_JOBS_INT_H
#define SIM_KINDS_JOBS_INT_H

#include "engine/jobs/job_core.h"
#include "sim/world/world.h"

enum page_phase { PAGE_IDLE, PAGE_BEGINNING, PAGE_FETCHING, PAGE_COMMITTING };

struct job_slot {
    bool busy, in_job, interrupted, ended;
    enum stop_reason cancelled;
    uint64_t number; /* of the occasion it waits for */
    size_t count, at;
    const struct job *jobs[JOB_CORE_BUNDLE_MAX];
    struct job_result_in results[JOB_CORE_BUNDLE_MAX];
    int64_t fence_ms, began_ms;
    int run;
    enum page_phase page; /* of a job that is one */
    int64_t offset;
    pawl_uuid instance;
};

struct job_worker {
    struct job_core *core;
    struct job_rule rules[2];
    struct job_slot *slots;
    bool calling;       /* the store has not answered: nothing else is asked for */
    bool over;          /* the job side has ended */
    pawl_uuid instance; /* nil: the store does not know it any more */
    pawl_uuid told;     /* the worker's, as it was told last */
    int stops, stops_seen;
    uint64_t timer;
};

/* Carries out what the core wants, until it wants to wait. */
void job_worker_pump(struct world *world, int index);

#endif
