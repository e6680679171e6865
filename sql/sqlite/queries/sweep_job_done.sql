-- sweep_job_done: what was reported under claims that are gone.
DELETE FROM job_done WHERE token NOT IN (SELECT token FROM job_claim)
