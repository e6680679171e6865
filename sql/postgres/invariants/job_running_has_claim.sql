-- job_running_has_claim: a job runs exactly when an active claim lists it.
SELECT pg_catalog.format('job %s has token %s, which lists it not', j.id, j.token)
  FROM pawl.job j
 WHERE j.token > 0
   AND NOT EXISTS (SELECT 1 FROM pawl.job_claim c WHERE c.token = j.token AND c.state = 1 AND j.id = ANY (c.ids))
