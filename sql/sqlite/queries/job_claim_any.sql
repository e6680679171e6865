-- job_claim_any: whether anything runs.
SELECT 1 FROM pawl_job_claim WHERE active = 1 LIMIT 1
