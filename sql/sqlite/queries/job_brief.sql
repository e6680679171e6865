-- job_brief: a job without what may be big.
SELECT id, state, ord, due_ms, put_ms, token, lease_until_ms, priority, attempts, max_attempts, flags, deadline_ms, timeout_ms,
       instant_ms, cancel_ms, died_ms, reason, queue, type, task, key, unique_key, traceparent, schedule, wait_key, wait_step,
       fingerprint, error, agent
  FROM pawl_job WHERE id = ?1
