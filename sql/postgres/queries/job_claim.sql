-- job_claim: claims of jobs: granting, renewing, expiring, keys.

-- name: jobs_claim
SELECT * FROM pawl.jobs_claim($1, $2, $3, $4, $5)

-- name: jobs_renew
SELECT * FROM pawl.jobs_renew($1, $2, $3, $4, $5)
