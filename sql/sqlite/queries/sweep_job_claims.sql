-- sweep_job_claims: claims that ended an hour ago.
DELETE FROM pawl_job_claim WHERE token IN (SELECT token FROM pawl_job_claim WHERE active = 0 AND lease_until_ms < ?1 - 3600000 LIMIT ?2)
