-- job_limits: see functions/job_limits.sql
SELECT * FROM pawl.job_limits()
