-- job_counts: see functions/job_counts.sql
SELECT * FROM pawl.job_counts()
