-- job: jobs: enqueueing, waking, cancelling, limits, steps, the end.

-- name: job_delete
-- A job has ended.
DELETE FROM pawl_job WHERE id = ?1

-- name: job_done_any
-- Whether anything was reported under a token.
SELECT 1 FROM pawl_job_done WHERE token = ?1 LIMIT 1

-- name: job_done_find
-- Whether a job was reported under a token.
SELECT 1 FROM pawl_job_done WHERE token = ?1 AND id = ?2

-- name: job_done_insert
-- A job was reported under a token.
INSERT OR IGNORE INTO pawl_job_done (token, id) VALUES (?1, ?2)

-- name: job_insert
-- A new job.
INSERT INTO pawl_job (id, state, ord, due_ms, put_ms, token, lease_until_ms, priority, attempts, max_attempts, flags, deadline_ms, timeout_ms,
                 instant_ms, cancel_ms, died_ms, reason, queue, type, task, key, unique_key, traceparent, schedule, payload, agent)
VALUES (?1, ?2, ?3, ?4, ?5, 0, 0, ?6, 0, ?7, ?8, ?9, ?10, ?11, 0, 0, 0, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)

-- name: job_limit_delete
-- Removes the limits of a key.
DELETE FROM pawl_job_limit WHERE key = ?1

-- name: job_limit_find
-- The limits of a key, or of its prefix.
SELECT concurrency, rate, rate_ms, weight FROM pawl_job_limit WHERE key = ?1
 UNION ALL
SELECT concurrency, rate, rate_ms, weight FROM pawl_job_limit WHERE key = ?2 LIMIT 1

-- name: job_limits
-- All limits.
SELECT key, concurrency, rate, rate_ms, weight FROM pawl_job_limit ORDER BY key

-- name: job_limit_put
-- Sets the limits of a key.
INSERT INTO pawl_job_limit (key, concurrency, rate, rate_ms, weight) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (key) DO UPDATE SET concurrency = excluded.concurrency, rate = excluded.rate, rate_ms = excluded.rate_ms, weight = excluded.weight

-- name: job_set
-- What changes when a job moves.
UPDATE pawl_job SET state = ?2, ord = ?3, due_ms = ?4, token = ?5, lease_until_ms = ?6, attempts = ?7, deadline_ms = ?8, cancel_ms = ?9,
               died_ms = ?10, reason = ?11, wait_key = ?12, wait_step = ?13, fingerprint = ?14, error = ?15,
               flags = ?16
 WHERE id = ?1

-- name: job_signal_delete
-- A signal was used up.
DELETE FROM pawl_job_signal WHERE id = ?1

-- name: job_signal_insert
-- Keeps a signal for a job that waits later.
INSERT INTO pawl_job_signal (wait_key, expires_ms, payload) VALUES (?1, ?2, ?3)

-- name: job_signal_oldest
-- The oldest signal of a wait key.
SELECT id, payload FROM pawl_job_signal WHERE wait_key = ?1 AND expires_ms > ?2 ORDER BY id LIMIT 1

-- name: job_state_read
-- The counters of pooled work.
SELECT last_job, last_run, swept_ms, vtime, turn FROM pawl_job_state

-- name: job_state_write
-- Keeps the counters of pooled work.
UPDATE pawl_job_state SET last_job = ?1, last_run = ?2, swept_ms = ?3, vtime = ?4, turn = ?5

-- name: job_step_delete
-- The steps of a job that has ended.
DELETE FROM pawl_job_step WHERE job = ?1

-- name: job_step_find
-- The state of a step.
SELECT state FROM pawl_job_step WHERE job = ?1 AND step = ?2 AND "index" = ?3

-- name: job_step_list
-- The steps of a job.
SELECT step, "index", state, attempt, started_ms, finished_ms, input_hash, output_hash, error, output
  FROM pawl_job_step WHERE job = ?1 ORDER BY step, "index"

-- name: job_step_put
-- Records a step.
INSERT OR REPLACE INTO pawl_job_step (job, step, "index", state, attempt, started_ms, finished_ms, input_hash, output_hash, error, output)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)

-- name: sweep_job_done
-- What was reported under claims that are gone.
DELETE FROM pawl_job_done WHERE token NOT IN (SELECT token FROM pawl_job_claim)

-- name: sweep_signals
-- Signals that no job waited for in time.
DELETE FROM pawl_job_signal WHERE id IN (SELECT id FROM pawl_job_signal WHERE expires_ms <= ?1 LIMIT ?2)
