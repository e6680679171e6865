-- job_key_free: a lease of a key has ended.
UPDATE job_key SET running = running - 1 WHERE key = ?1
