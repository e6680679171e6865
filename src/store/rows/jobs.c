/* The shapes of jobs, tasks, schedules, agents and their audit. */
#include "store/rows/shapes.h"

#define ROW struct job_new
SHAPE(job_new, M(type), JSON(payload), M(queue), M(key), M(unique_key), M(traceparent), M(task), M(agent),
      M(priority), M(max_attempts), M(flags), M(due_ms), M(delay_ms), M(deadline_ms), M(timeout_ms));
#undef ROW

#define ROW struct job
SHAPE(job, M(id), M(token), M(lease_until_ms), M(type), M(queue), M(payload), M(task), M(key), M(unique_key),
      M(traceparent), M(schedule), M(progress), M(priority), M(attempts), M(max_attempts), M(flags),
      M(put_ms), M(due_ms), M(deadline_ms), M(timeout_ms), M(instant_ms), M(cancel_ms), M(agent));
#undef ROW

#define ROW struct job_row
/* What a view adds to a job. */
SHAPE(job_view, M(state), M(instance), M(error), M(wait_key), M(wait_step), M(fingerprint), M(reason),
      M(died_ms));
#undef ROW

#define ROW struct job_filter
SHAPE(job_filter, M(id), M(state), M(queue), M(task), M(type), M(key), M(fingerprint), M(after_id), M(limit),
      M(scan_max));
#undef ROW

#define ROW struct job_why
SHAPE(job_why, M(cause), M(until_ms), M(ahead), M(limit), M(running), M(now_ms));
#undef ROW

#define ROW struct job_counts
SHAPE(job_counts, M(queue), M(ready), M(running), M(later), M(waiting), M(dead), M(put), M(done), M(failed),
      M(lost), M(died), M(cancelled), M(redriven), M(discarded), M(stale), M(oldest_ready_ms));
/* What calls add up. */
SHAPE_WITHOUT(job_tally, job_counts, 1);
#undef ROW

#define ROW struct job_priority
SHAPE(job_priority, M(priority), M(ready), M(later));
#undef ROW

#define ROW struct job_limit
SHAPE(job_limit, M(key), M(concurrency), M(rate), M(rate_ms), M(weight));
#undef ROW

#define ROW struct job_step
SHAPE(job_step, M(step), M(index), SMALL(state), M(attempt), M(started_ms), M(finished_ms), M(input_hash),
      M(output_hash), M(error), M(output));
SHAPE(job_step_new, M(step), M(index), SMALL(state), M(attempt), M(duration_ms), M(input_hash),
      M(output_hash), M(error), JSON(output));
#undef ROW

#define ROW struct job_wake
SHAPE(job_wake, M(wait_key), JSON(payload), M(keep_ms));
#undef ROW

#define ROW struct wake_result
SHAPE(wake_result, M(woken), M(kept));
#undef ROW

#define ROW struct renew_item
SHAPE(renew_item, M(ref.token), M(ref.id), JSON(progress));
#undef ROW

#define ROW struct job_dead_group
SHAPE(job_dead_group, M(fingerprint), M(sample_error), M(count), M(first_ms), M(last_ms));
#undef ROW

#define ROW struct jobs_maintain_result
SHAPE(jobs_maintain, M(runs_removed), M(claims_removed), M(fires_removed), M(signals_removed),
      M(refusals_removed), M(spine_removed), M(tally_folded), M(leases_expired));
#undef ROW

#define ROW struct task
SHAPE(task, M(name), M(agent), M(type), JSON(spec), JSON(params), JSON(scopes), M(queue), M(key), M(priority),
      M(max_attempts), M(flags), M(timeout_ms), M(retention_ms), M(version), M(updated_ms));
SHAPE_WITHOUT(task_new, task, 1);
#undef ROW

#define ROW struct put_answer
SHAPE(put_answer, M(answer), M(version), M(missing));
SHAPE_WITHOUT(put_answer_plain, put_answer, 1);
#undef ROW

#define ROW struct job_schedule
SHAPE(schedule, M(name), M(task), SMALL(kind), M(expr), M(zone), JSON(params), SMALL(missed), M(missed_max),
      SMALL(overlap), M(jitter_ms), M(start_ms), M(end_ms), M(paused), M(next_ms), M(last_ms), M(version),
      M(updated_ms));
/* Up to the next instant; the version follows. */
SHAPE_WITHOUT(schedule_new, schedule, 3);
#undef ROW

#define ROW struct agent
SHAPE(agent, M(name), JSON(scopes), M(disabled), M(updated_ms));
SHAPE_WITHOUT(agent_new, agent, 1);
#undef ROW

#define ROW struct refusal
SHAPE(refusal, M(id), M(agent), M(task), M(missing), M(job_id), M(made_ms));
#undef ROW

#define ROW struct task_run
SHAPE(task_run, M(id), M(job_id), M(task), M(type), M(queue), M(attempt), M(instance), M(token),
      M(started_ms), M(finished_ms), M(outcome), M(output), M(error), M(steps), M(input_hash),
      M(output_hash));
#undef ROW

#define ROW struct run_sums
SHAPE(task_run_sums, M(runs), M(succeeded), M(duration_ms), M(workers));
#undef ROW

#define ROW struct audit_report
SHAPE(audit_report, M(chains), M(blocks), M(anchors), M(rows), M(removed), M(fault));
#undef ROW

#define ROW struct spine_event
SHAPE(spine_event, M(id), M(job_id), M(outcome), M(attempt), M(made_ms), M(instance), M(task), M(type),
      M(error), M(payload));
#undef ROW
