-- job_key_free: a lease of a key has ended.
UPDATE pawl_job_key SET running = running - 1 WHERE key = ?1
