-- job_late: how many running jobs have a lease that is over.
-- params: how many are counted, now_ms
SELECT count(*) FROM (SELECT 1 FROM pawl_job INDEXED BY pawl_job_token WHERE state = 2 AND lease_until_ms <= ?2 LIMIT ?1)
