-- job_claim_ids_match: what an active claim lists runs under its token.
SELECT 'claim ' || c.token || ' is active and has no job' FROM pawl_job_claim c
 WHERE c.active = 1 AND NOT EXISTS (SELECT 1 FROM pawl_job j WHERE j.token = c.token AND j.state = 2)
