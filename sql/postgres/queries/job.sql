-- job: jobs: enqueueing, waking, cancelling, limits, steps, the end.

-- name: job_complete
SELECT pawl.job_complete(NULL, $1, $2, NULL, $3)

-- name: job_limit_set
SELECT pawl.job_limit_set($1, $2, $3, $4, $5)

-- name: job_limits
SELECT * FROM pawl.job_limits()

-- name: jobs_cancel
SELECT pawl.jobs_cancel($1)

-- name: jobs_enqueue
SELECT * FROM pawl.jobs_enqueue($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)

-- name: jobs_finish
SELECT * FROM pawl.jobs_finish($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)

-- name: jobs_maintain
SELECT * FROM pawl.jobs_maintain($1)

-- name: jobs_redrive
SELECT pawl.jobs_redrive($1, $2)

-- name: jobs_wake
SELECT * FROM pawl.jobs_wake($1, $2, $3)

-- name: steps_put
SELECT pawl.steps_put($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)

-- name: steps_read
SELECT s.step, s.index, s.state, s.attempt, s.started_ms, s.finished_ms, s.input_hash, s.output_hash, s.error, s.output
  FROM pawl.steps_read($1) s
