-- job_signal_insert: keeps a signal for who waits later.
INSERT INTO pawl_job_signal (wait_key, expires_ms, payload) VALUES (?1, ?2, ?3)
