/* What is reported to the store about a job that ended. */
#include "engine/jobs/job_report.h"

#include "domain/failure/retry.h"

struct finish_item job_report(const struct job *job, const struct job_result_in *in,
                              const struct job_rule *rule, uint64_t random) {
    struct finish_item item = {.ref = {job->token, job->id},
                               .delay_ms = in->delay_ms,
                               .duration_ms = in->duration_ms,
                               .output = in->output,
                               .error = in->error,
                               .steps = in->steps,
                               .input_hash = in->input_hash,
                               .output_hash = in->output_hash,
                               .wait_key = in->wait_key,
                               .wait_step = in->wait_step};
    switch (in->end) {
    case JOB_END_DONE:
    case JOB_END_SETTLED: /* never gets here */
        item.outcome = JOB_COMPLETE;
        item.delay_ms = 0;
        break;
    case JOB_END_NOT_RUN:
        item.outcome = JOB_RELEASE;
        item.delay_ms = in->delay_ms > 0 ? in->delay_ms : 0;
        break;
    case JOB_END_WAIT:
        item.outcome = JOB_WAIT;
        break;
    case JOB_END_SNOOZE:
        item.outcome = JOB_SNOOZE;
        item.delay_ms = in->delay_ms > JOB_CORE_SNOOZE_MS ? in->delay_ms : JOB_CORE_SNOOZE_MS;
        break;
    case JOB_END_RETRY:
    case JOB_END_PERMANENT:
    case JOB_END_CANCELLED:
        item.outcome = JOB_FAIL;
        item.refused = in->refused;
        item.error_class = in->end == JOB_END_PERMANENT ? CLASS_PERMANENT : CLASS_RETRYABLE;
        if (item.delay_ms < 0 && rule != NULL && rule->retry_base_ms > 0) {
            struct retry_policy policy = {rule->retry_base_ms, rule->retry_max_ms, !rule->retry_exact};
            item.delay_ms = retry_wait_ms(&policy, job->attempts, random);
        }
        break;
    }
    return item;
}
