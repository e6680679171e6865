-- job_claim_set: what changes in a claim.
UPDATE pawl_job_claim SET check_ms = ?2, active = ?3, intact = ?4, forgot = ?5 WHERE token = ?1
