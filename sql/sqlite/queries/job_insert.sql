-- job_insert: a new job.
INSERT INTO pawl_job (id, state, ord, due_ms, put_ms, token, lease_until_ms, priority, attempts, max_attempts, flags, deadline_ms, timeout_ms,
                 instant_ms, cancel_ms, died_ms, reason, queue, type, task, key, unique_key, traceparent, schedule, payload, agent)
VALUES (?1, ?2, ?3, ?4, ?5, 0, 0, ?6, 0, ?7, ?8, ?9, ?10, ?11, 0, 0, 0, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)
