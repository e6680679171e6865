-- job_running_has_claim: a job runs exactly when an active claim lists it.
SELECT 'job ' || j.id || ' has state ' || j.state || ' and token ' || j.token FROM pawl_job j
 WHERE (j.state = 2) <> (j.token > 0)
    OR (j.state = 2 AND NOT EXISTS (SELECT 1 FROM pawl_job_claim c WHERE c.token = j.token AND c.active = 1))
