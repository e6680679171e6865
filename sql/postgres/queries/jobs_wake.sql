-- jobs_wake: see functions/jobs_wake.sql
SELECT * FROM pawl.jobs_wake($1, $2, $3)
