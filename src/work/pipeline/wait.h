/* Steps that wait: for a signal, for some time, or for a signal with a timeout. */
#ifndef WORK_PIPELINE_WAIT_H
#define WORK_PIPELINE_WAIT_H

#include "base/limits.h"
#include "domain/pipeline/pipeline.h"
#include "work/pipeline/run.h"

/* {"uses": "pawl.wait", "with": {"event": "order:7:paid", "timeout": "1h"}} or {"for": "30s"}. The job is
 * parked in the meantime and occupies no slot. The end of the wait is recorded with the step, so that a
 * retried job does not start waiting again. */
struct wait_mark {
    size_t step;
    int64_t until_ms; /* the store's clock; 0 = no end */
};

struct wait_state {
    struct wait_mark marks[PAWL_PIPELINE_STEPS_MAX];
    size_t count;
    /* What the job waits for, as far as this plan goes. */
    bool waits;
    pawl_str key, step;
    bool event;
    int64_t delay_ms; /* -1 = no end */
};

/* A step as an earlier attempt left it: output is {"until_ms": …}, or something unrelated. */
PAWL_MUSTCHECK pawl_status wait_state_read(struct wait_state *state, struct arena *arena, size_t step,
                                           pawl_str output, pawl_error *err);

/* Checks waiting steps before anything runs. PAWL_INVALID names the location. */
/* The same of arguments that are filled. */
PAWL_MUSTCHECK pawl_status pipeline_wait_arguments(const struct tree *with, pawl_error *err);
PAWL_MUSTCHECK pawl_status pipeline_wait_check(const struct pipeline *pipeline, pawl_error *err);

/* Starts a new plan: forgets what is waited for. */
void wait_state_begin(struct wait_state *state);

struct wait_verdict {
    bool put; /* the step must be recorded first */
    struct job_step step;
    bool over, failed; /* the wait is over; it timed out without a signal */
    const struct tree *output;
};

/* Checks a waiting step. */
PAWL_MUSTCHECK pawl_status wait_state_look(struct wait_state *state, const struct pipeline_run_in *in,
                                           struct arena *arena, const struct pipeline_step *step,
                                           const struct step_ready *ready, struct wait_verdict *verdict,
                                           pawl_error *err);

/* How the job is parked. */
void wait_state_result(const struct wait_state *state, struct job_result_in *result);

#endif
