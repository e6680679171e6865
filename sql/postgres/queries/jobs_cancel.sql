-- jobs_cancel: see functions/jobs_cancel.sql
SELECT pawl.jobs_cancel($1)
