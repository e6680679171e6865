-- job_claim_insert: a claim.
INSERT INTO pawl_job_claim (token, instance, queue, lease_until_ms, check_ms, active, intact, forgot, request)
VALUES (?1, ?2, ?3, ?4, ?4, 1, 1, 0, ?5)
