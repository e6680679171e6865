-- job_worker: whether anybody alive works on jobs.
SELECT 1 FROM pawl_instance WHERE state = 1 AND kinds & 16 <> 0 AND lease_until_ms > ?1 LIMIT 1
