/* The result of a job's execution. */
#ifndef WORK_JOB_RESULT_H
#define WORK_JOB_RESULT_H

#include "pawl.h"

/* A slot's result for a job. Texts live in `owner` until JOB_ACT_FREE_RESULT. */
enum job_end {
    JOB_END_DONE = 1,
    JOB_END_RETRY,
    JOB_END_PERMANENT,
    JOB_END_CANCELLED,
    JOB_END_NOT_RUN,
    JOB_END_SNOOZE,
    JOB_END_WAIT,
    JOB_END_SETTLED /* its end is already in the store: nothing to report */
};
struct job_result_in {
    enum job_end end;
    bool refused;
    int64_t delay_ms; /* until the next attempt, or of a wait; -1 = by policy, or no end */
    int64_t duration_ms;
    pawl_str output, error, steps, input_hash, output_hash, wait_key, wait_step;
    void *owner; /* may be NULL */
};

#endif
