-- sweep_job_done: what was reported under claims that are gone.
DELETE FROM pawl_job_done WHERE token NOT IN (SELECT token FROM pawl_job_claim)
