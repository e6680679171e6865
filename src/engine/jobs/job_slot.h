/* A slot of the job side: a thread that runs one job, or a bundle of quick ones. */
#ifndef ENGINE_JOBS_JOB_SLOT_H
#define ENGINE_JOBS_JOB_SLOT_H

#include <pthread.h>

#include "engine/jobs/job_core.h"
#include "handler/run_handle.h"
#include "handler/table.h"
#include "work/pipeline/run.h"

enum { JOB_PROGRESS_BYTES_MAX = 65536 };

struct job_slot {
    struct run_handle handle; /* first: functions get a pointer to it */
    int number;
    pthread_t thread;
    bool started;
    /* What to do; set while the slot is not busy. */
    const struct handler *handler; /* NULL = a pipeline */
    const struct job *jobs[JOB_CORE_BUNDLE_MAX];
    size_t count;
    pawl_uuid instance;
    int64_t fence_ms, deadline_ms, timeout_ms, claimed_ms;
    size_t at;             /* the job that runs now; the slot's own */
    bool refused_progress; /* of that job, in this attempt; likewise */
    /* What came of it. */
    struct job_result_in results[JOB_CORE_BUNDLE_MAX];
    int64_t elapsed_us;
    /* Shared under the side's lock. */
    bool busy, ended;
    bool progressed;
    struct {
        char *text; /* owned; the last one told, not yet passed on */
        size_t len;
    } progress[JOB_CORE_BUNDLE_MAX];
    /* What it needs of the side. */
    struct job_slots *slots;
};

/* What all slots share. */
struct job_slots {
    pthread_mutex_t lock;
    pthread_cond_t work, news; /* for slots; for the side */
    struct job_slot *items;
    int count;
    bool closing, woken;
    const struct pipeline_world_of_worker *world;
    int64_t lease_ms;
};

PAWL_MUSTCHECK pawl_status job_slots_open(struct job_slots *slots, int count, pawl_error *err);
/* Ends the threads. False: one is stuck in a handler and was abandoned with what it uses. */
PAWL_MUSTCHECK bool job_slots_close(struct job_slots *slots, int64_t wait_ms);

/* Starts what the slot was given. The lock is held. */
PAWL_MUSTCHECK pawl_status job_slot_start(struct job_slots *slots, struct job_slot *slot, pawl_error *err);

/* job_run.c: runs what the slot was given, in the calling thread. */
void job_slot_run(struct job_slot *slot);

#endif
