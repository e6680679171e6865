-- job_claim_find: a claim by its token.
SELECT instance, queue, check_ms, active, intact, forgot FROM pawl_job_claim WHERE token = ?1
