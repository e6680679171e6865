-- job_limit_list: all limits.
SELECT key, concurrency, rate, rate_ms, weight FROM pawl_job_limit ORDER BY key
