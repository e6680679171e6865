-- job_token_lease: the earliest lease of a claim.
SELECT min(lease_until_ms) FROM pawl_job WHERE token = ?1 AND state = 2
