/* The shapes of jobs, tasks, schedules, agents and their audit. */
#include "store/rows/shapes.h"

SHAPE(job_new, struct job_new, M(type), JSON(payload), M(queue), M(key), M(unique_key), M(traceparent),
      M(task), M(agent), M(priority), M(max_attempts), M(flags), M(due_ms), M(delay_ms), M(deadline_ms),
      M(timeout_ms));
SHAPE(job, struct job, M(id), M(token), M(lease_until_ms), M(type), M(queue), M(payload), M(task), M(key),
      M(unique_key), M(traceparent), M(schedule), M(progress), M(priority), M(attempts), M(max_attempts),
      M(flags), M(put_ms), M(due_ms), M(deadline_ms), M(timeout_ms), M(instant_ms), M(cancel_ms), M(agent));

/* What a view adds to a job. */
SHAPE(job_view, struct job_row, M(state), M(instance), M(error), M(wait_key), M(wait_step), M(fingerprint),
      M(reason), M(died_ms));
SHAPE(job_filter, struct job_filter, M(id), M(state), M(queue), M(task), M(type), M(key), M(fingerprint),
      M(after_id), M(limit), M(scan_max));
SHAPE(job_why, struct job_why, M(cause), M(until_ms), M(ahead), M(limit), M(running), M(now_ms));
SHAPE(job_counts, struct job_counts, M(queue), M(ready), M(running), M(later), M(waiting), M(dead), M(put),
      M(done), M(failed), M(lost), M(died), M(cancelled), M(redriven), M(discarded), M(stale),
      M(oldest_ready_ms));
/* What calls add up. */
SHAPE_WITHOUT(job_tally, struct job_counts, job_counts, 1);
SHAPE(job_priority, struct job_priority, M(priority), M(ready), M(later));
SHAPE(job_limit, struct job_limit, M(key), M(concurrency), M(rate), M(rate_ms), M(weight));
SHAPE(job_step, struct job_step, M(step), M(index), SMALL(state), M(attempt), M(started_ms), M(finished_ms),
      M(input_hash), M(output_hash), M(error), M(output));
SHAPE(job_step_new, struct job_step, M(step), M(index), SMALL(state), M(attempt), M(duration_ms),
      M(input_hash), M(output_hash), M(error), JSON(output));
SHAPE(job_wake, struct job_wake, M(wait_key), JSON(payload), M(keep_ms));
SHAPE(wake_result, struct wake_result, M(woken), M(kept));
SHAPE(renew_item, struct renew_item, M(ref.token), M(ref.id), JSON(progress));
SHAPE(job_dead_group, struct job_dead_group, M(fingerprint), M(sample_error), M(count), M(first_ms),
      M(last_ms));
SHAPE(jobs_maintain, struct jobs_maintain_result, M(runs_removed), M(claims_removed), M(fires_removed),
      M(signals_removed), M(refusals_removed), M(spine_removed), M(tally_folded), M(leases_expired));
SHAPE(task, struct task, M(name), M(agent), M(type), JSON(spec), JSON(params), JSON(scopes), M(queue), M(key),
      M(priority), M(max_attempts), M(flags), M(timeout_ms), M(retention_ms), M(version), M(updated_ms));
SHAPE_WITHOUT(task_new, struct task, task, 1);
SHAPE(put_answer, struct put_answer, M(answer), M(version), M(missing));
SHAPE_WITHOUT(put_answer_plain, struct put_answer, put_answer, 1);
SHAPE(schedule, struct job_schedule, M(name), M(task), SMALL(kind), M(expr), M(zone), JSON(params),
      SMALL(missed), M(missed_max), SMALL(overlap), M(jitter_ms), M(start_ms), M(end_ms), M(paused),
      M(next_ms), M(last_ms), M(version), M(updated_ms));
/* Up to the next instant; the version follows. */
SHAPE_WITHOUT(schedule_new, struct job_schedule, schedule, 3);
SHAPE(agent, struct agent, M(name), JSON(scopes), M(disabled), M(updated_ms));
SHAPE_WITHOUT(agent_new, struct agent, agent, 1);
SHAPE(refusal, struct refusal, M(id), M(agent), M(task), M(missing), M(job_id), M(made_ms));
SHAPE(task_run, struct task_run, M(id), M(job_id), M(task), M(type), M(queue), M(attempt), M(instance),
      M(token), M(started_ms), M(finished_ms), M(outcome), M(output), M(error), M(steps), M(input_hash),
      M(output_hash));
SHAPE(task_run_sums, struct run_sums, M(runs), M(succeeded), M(duration_ms), M(workers));
SHAPE(audit_report, struct audit_report, M(chains), M(blocks), M(anchors), M(rows), M(removed), M(fault));
SHAPE(spine_event, struct spine_event, M(id), M(job_id), M(outcome), M(attempt), M(made_ms), M(instance),
      M(task), M(type), M(error), M(payload));
