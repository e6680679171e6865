-- job_one_place: a job is in one place, and the place fits its state.
SELECT pg_catalog.format('job %s is ready or running and set aside at once', j.id)
  FROM pawl.job j JOIN pawl.job_aside a ON a.id = j.id
UNION ALL
SELECT pg_catalog.format('job %s is set aside with state %s', a.id, a.state)
  FROM pawl.job_aside a
 WHERE a.state NOT IN (3, 4, 5) OR a.token <> 0 OR (a.state = 4) <> (a.wait_key IS NOT NULL) OR (a.state = 5) <> (a.died_ms IS NOT NULL)
UNION ALL
SELECT pg_catalog.format('job %s: key %s, ready key %s, token %s', j.id, j.key, j.ready_key, j.token)
  FROM pawl.job j WHERE j.ready_key IS DISTINCT FROM CASE WHEN j.token = 0 THEN j.key END
