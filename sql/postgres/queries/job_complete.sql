-- job_complete: see functions/job_complete.sql; whoever holds the token completes the job
SELECT pawl.job_complete(NULL, $1, $2, NULL, $3)
