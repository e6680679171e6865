/* The jobs that plan and consolidate a run. */
#ifndef WORK_RUN_CONSOLIDATE_JOB_H
#define WORK_RUN_CONSOLIDATE_JOB_H

#include "work/pipeline/run.h"

/* By a tool, a pipeline, or another run, as the run's document says. result->owner as pipeline_run. */
void consolidate_job_run(const struct pipeline_run_in *in, struct job_result_in *result);

/* Asks the planning tool for the partitions and starts the run. */
void plan_job_run(const struct pipeline_run_in *in, struct job_result_in *result);

#endif
