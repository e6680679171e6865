/* The job side of a worker at work: a thread that asks the core what to do, a store handle, and slots that
 * run jobs. */
#ifndef ENGINE_JOBS_JOB_SIDE_H
#define ENGINE_JOBS_JOB_SIDE_H

#include "base/log.h"
#include "engine/jobs/job_core.h"
#include "handler/table.h"
#include "handler/tools/tools.h"
#include "store/store.h"

/* Texts, handlers and tools are borrowed for as long as the job side lives. */
struct job_side_config {
    struct store_config store;
    struct handler_table *handlers;
    struct tools *tools;
    const char *const *env; /* names that ${env.NAME} of pipelines may use */
    size_t env_count;
    int slots, batch;
    int64_t lease_ms, poll_ms, drain_ms, heartbeat_ms;
    int64_t rest_ms;    /* the longest rest while wake-ups work; 0 = none */
    int64_t timeout_ms; /* of one execution of a pipeline; 0 = none */
    const char *queue;  /* NULL = default */
    uint64_t seed;
    struct log *log;
    struct observer *observer;   /* NULL: nothing is noted */
    void (*changed)(void *self); /* it became idle or ended; in its own thread */
    void *self;
};

struct job_side;

PAWL_MUSTCHECK pawl_status job_side_create(const struct job_side_config *config, struct job_side **side,
                                           pawl_error *err);
/* After job_side_ended, or without having been started. Takes NULL. */
void job_side_free(struct job_side *side);

PAWL_MUSTCHECK pawl_status job_side_start(struct job_side *side, pawl_error *err);
/* The instance that claims; nil = none at the moment. */
void job_side_instance(struct job_side *side, pawl_uuid instance);
/* Whether an answer said that the instance is gone: it waits for a new one (job_side_instance). */
bool job_side_lost(struct job_side *side);
/* Whether a call was answered that the database itself is damaged, or was replaced; then *err says so. */
bool job_side_damaged(struct job_side *side, pawl_error *err);
void job_side_wake(struct job_side *side);
/* Whether puts wake us: then an idle side rests instead of polling. */
void job_side_quiet(struct job_side *side, bool quiet);
void job_side_stop(struct job_side *side, bool at_once);
bool job_side_ended(struct job_side *side);
bool job_side_idle(struct job_side *side);
struct job_core_metrics job_side_metrics(struct job_side *side);
/* Waits for its thread; false: it did not come back in time and is abandoned with what it uses. */
PAWL_MUSTCHECK bool job_side_close(struct job_side *side, int64_t wait_ms);

#endif
