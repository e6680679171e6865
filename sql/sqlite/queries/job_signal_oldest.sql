-- job_signal_oldest: the oldest signal of a wait key.
SELECT id, payload FROM pawl_job_signal WHERE wait_key = ?1 AND expires_ms > ?2 ORDER BY id LIMIT 1
