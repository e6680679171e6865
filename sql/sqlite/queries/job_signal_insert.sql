-- job_signal_insert: keeps a signal for who waits later.
INSERT INTO job_signal (wait_key, expires_ms, payload) VALUES (?1, ?2, ?3)
