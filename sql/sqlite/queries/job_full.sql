-- job_full: a whole job, and who runs it.
SELECT j.id, j.state, j.ord, j.due_ms, j.put_ms, j.token, j.lease_until_ms, j.priority, j.attempts, j.max_attempts, j.flags, j.deadline_ms, j.timeout_ms, j.instant_ms, j.cancel_ms, j.died_ms, j.reason, j.queue, j.type, j.task, j.key, j.unique_key, j.traceparent, j.schedule, j.wait_key, j.wait_step, j.fingerprint, j.error, j.agent, j.progress, j.payload,
       c.instance
  FROM pawl_job j LEFT JOIN pawl_job_claim c ON c.token = j.token AND j.state = 2 WHERE j.id = ?1
