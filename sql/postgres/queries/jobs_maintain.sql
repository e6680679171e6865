-- jobs_maintain: see functions/jobs_maintain.sql
SELECT * FROM pawl.jobs_maintain($1)
