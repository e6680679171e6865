-- job_why: see functions/job_why.sql
SELECT * FROM pawl.job_why($1)
