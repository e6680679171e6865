-- job_limit_set: see functions/job_limit_set.sql
SELECT pawl.job_limit_set($1, $2, $3, $4, $5)
