-- sweep_signals: signals that nobody waited for in time.
DELETE FROM pawl_job_signal WHERE id IN (SELECT id FROM pawl_job_signal WHERE expires_ms <= ?1 LIMIT ?2)
