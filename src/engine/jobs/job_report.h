/* What is reported to the store about a job that ended. */
#ifndef ENGINE_JOBS_JOB_REPORT_H
#define ENGINE_JOBS_JOB_REPORT_H

#include "engine/jobs/job_core.h"

/* rule: of its handler; NULL = it has none. random: for the jitter of the next attempt. */
struct finish_item job_report(const struct job *job, const struct job_result_in *in,
                              const struct job_rule *rule, uint64_t random);

#endif
