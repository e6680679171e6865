-- job_limit_find: the limits of a key, or of its prefix.
SELECT concurrency, rate, rate_ms, weight FROM pawl_job_limit WHERE key IN (?1, ?2) ORDER BY key = ?1 DESC LIMIT 1
