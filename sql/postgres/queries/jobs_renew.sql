-- jobs_renew: see functions/jobs_renew.sql
SELECT * FROM pawl.jobs_renew($1, $2, $3, $4, $5)
