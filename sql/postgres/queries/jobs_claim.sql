-- jobs_claim: see functions/jobs_claim.sql
SELECT * FROM pawl.jobs_claim($1, $2, $3, $4, $5)
