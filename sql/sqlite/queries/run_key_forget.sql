-- run_key_forget: the state of a run's key goes.
DELETE FROM pawl_job_key WHERE key = ?1 AND running = 0
