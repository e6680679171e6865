-- job: jobs: enqueueing, waking, cancelling, limits, steps, the end.
-- calls: job_limit_set, job_limits, jobs_cancel, jobs_enqueue, jobs_finish, jobs_maintain, jobs_redrive, jobs_wake, steps_put

-- name: job_complete
SELECT pawl_internal.job_complete(NULL, $1, $2, NULL, $3)

-- name: steps_read
SELECT s.step, s.index, s.state, s.attempt, s.started_ms, s.finished_ms, s.input_hash, s.output_hash, s.error, s.output
  FROM pawl_internal.steps_read($1) s
