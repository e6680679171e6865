-- job: invariants of jobs, their claims, steps and tallies.

-- name: job_claim_ids_match
-- What an active claim lists runs under its token.
SELECT pg_catalog.format('claim %s lists job %s, which does not run under it', c.token, u.id)
  FROM pawl_internal.job_claim c CROSS JOIN LATERAL pg_catalog.unnest(c.ids) AS u(id)
 WHERE NOT EXISTS (SELECT 1 FROM pawl_internal.job j WHERE j.id = u.id AND j.token = c.token)

-- name: job_key_running_matches
-- What a key counts as running is what runs.
SELECT pg_catalog.format('key %s counts %s, %s run', coalesce(k.key, r.key), k.running, r.running)
  FROM pawl_internal.job_key k
  FULL JOIN (SELECT j.key, count(*) AS running FROM pawl_internal.job j WHERE j.token > 0 AND j.key IS NOT NULL GROUP BY j.key) r
    ON r.key = k.key
 WHERE coalesce(k.running, 0) <> coalesce(r.running, 0)

-- name: job_one_place
-- A job is in one place, and the place fits its state.
SELECT pg_catalog.format('job %s is ready or running and set aside at once', j.id)
  FROM pawl_internal.job j JOIN pawl_internal.job_aside a ON a.id = j.id
UNION ALL
SELECT pg_catalog.format('job %s is set aside with state %s', a.id, a.state)
  FROM pawl_internal.job_aside a
 WHERE a.state IN (:JOB_READY, :JOB_RUNNING) OR a.token <> 0 OR (a.state = :JOB_WAITING) <> (a.wait_key IS NOT NULL) OR (a.state = :JOB_DEAD) <> (a.died_ms IS NOT NULL)
UNION ALL
SELECT pg_catalog.format('job %s: key %s, ready key %s, token %s', j.id, j.key, j.ready_key, j.token)
  FROM pawl_internal.job j WHERE j.ready_key IS DISTINCT FROM CASE WHEN j.token = 0 THEN j.key END

-- name: job_running_has_claim
-- A job runs exactly when an active claim lists it.
SELECT pg_catalog.format('job %s has token %s, which lists it not', j.id, j.token)
  FROM pawl_internal.job j
 WHERE j.token > 0
   AND NOT EXISTS (SELECT 1 FROM pawl_internal.job_claim c WHERE c.token = j.token AND c.state = :CLAIM_ACTIVE AND j.id = ANY (c.ids))

-- name: job_step_has_job
-- Steps live as long as their job.
SELECT pg_catalog.format('step %s of job %s, which is gone', s.step, s.job)
  FROM pawl_internal.job_step s
 WHERE NOT EXISTS (SELECT 1 FROM pawl_internal.job j WHERE j.id = s.job)
   AND NOT EXISTS (SELECT 1 FROM pawl_internal.job_aside a WHERE a.id = s.job)

-- name: job_tally_matches_tables
-- The gauges of a queue are the numbers of its jobs.
SELECT pg_catalog.format('queue %s counts %s, there are %s', coalesce(t.queue, r.queue), pg_catalog.row_to_json(t), pg_catalog.row_to_json(r))
  FROM (SELECT y.queue, {{each job_gauge: sum(y.@) AS @}} FROM pawl_internal.job_tally y GROUP BY y.queue) t
  FULL JOIN (SELECT a.queue, {{each job_gauge: count(*) FILTER (WHERE a.state = :JOB_@) AS @}}
               FROM (SELECT j.queue, CASE WHEN j.token > 0 THEN :JOB_RUNNING ELSE :JOB_READY END AS state FROM pawl_internal.job j
                     UNION ALL SELECT o.queue, o.state FROM pawl_internal.job_aside o) a GROUP BY a.queue) r
    ON r.queue = t.queue
 WHERE ({{each job_gauge: coalesce(t.@, 0)}}) <> ({{each job_gauge: coalesce(r.@, 0)}})

-- name: job_unique_held
-- A unique key is held by exactly its unfinished, living job.
SELECT pg_catalog.format('unique key %s: held by %s, belongs to %s', coalesce(u.key, j.unique_key), u.job, j.id)
  FROM pawl_internal.job_unique u
  FULL JOIN (SELECT o.id, o.unique_key FROM pawl_internal.job o WHERE o.unique_key IS NOT NULL
             UNION ALL SELECT o.id, o.unique_key FROM pawl_internal.job_aside o WHERE o.unique_key IS NOT NULL AND o.state <> :JOB_DEAD) j
    ON j.unique_key = u.key
 WHERE u.job IS DISTINCT FROM j.id
