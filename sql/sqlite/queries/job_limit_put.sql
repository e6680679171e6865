-- job_limit_put: sets the limits of a key.
INSERT INTO pawl_job_limit (key, concurrency, rate, rate_ms, weight) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (key) DO UPDATE SET concurrency = excluded.concurrency, rate = excluded.rate, rate_ms = excluded.rate_ms, weight = excluded.weight
