-- jobs_redrive: see functions/jobs_redrive.sql
SELECT pawl.jobs_redrive($1, $2)
