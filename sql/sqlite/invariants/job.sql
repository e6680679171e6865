-- job: invariants of jobs, their claims, steps and tallies.

-- name: job_claim_ids_match
-- What an active claim lists runs under its token.
SELECT 'claim ' || c.token || ' is active and has no job' FROM pawl_job_claim c
 WHERE c.active = 1 AND NOT EXISTS (SELECT 1 FROM pawl_job j WHERE j.token = c.token AND j.state = :JOB_RUNNING)

-- name: job_key_running_matches
-- What a key counts as running is what runs.
SELECT 'key ' || k.key || ' counts ' || k.running FROM pawl_job_key k
 WHERE k.running <> (SELECT count(*) FROM pawl_job j WHERE j.state = :JOB_RUNNING AND j.key = k.key)
UNION ALL
SELECT 'key ' || j.key || ' runs and is not counted' FROM pawl_job j
 WHERE j.state = :JOB_RUNNING AND j.key IS NOT NULL AND NOT EXISTS (SELECT 1 FROM pawl_job_key k WHERE k.key = j.key)

-- name: job_one_place
-- A job is in one place, and the place fits its state.
SELECT 'job ' || id || ' has state ' || state FROM pawl_job
 WHERE (state = :JOB_WAITING) <> (wait_key IS NOT NULL) OR (state = :JOB_DEAD) <> (died_ms > 0) OR (state = :JOB_RUNNING) <> (lease_until_ms > 0)

-- name: job_running_has_claim
-- A job runs exactly when an active claim lists it.
SELECT 'job ' || j.id || ' has state ' || j.state || ' and token ' || j.token FROM pawl_job j
 WHERE (j.state = :JOB_RUNNING) <> (j.token > 0)
    OR (j.state = :JOB_RUNNING AND NOT EXISTS (SELECT 1 FROM pawl_job_claim c WHERE c.token = j.token AND c.active = 1))

-- name: job_step_has_job
-- Steps live as long as their job.
SELECT 'step ' || s.step || ' of job ' || s.job || ', which is gone' FROM pawl_job_step s WHERE NOT EXISTS (SELECT 1 FROM pawl_job j WHERE j.id = s.job)

-- name: job_tally_matches_tables
-- The gauges of a queue are the numbers of its jobs.
SELECT 'queue ' || t.queue || ' counts ' || json_object({{each job_gauge: '@', t.@}})
  FROM pawl_job_tally t
 WHERE ({{t.job_gauge}}) <> ({{each job_gauge: (SELECT count(*) FROM pawl_job j WHERE j.queue = t.queue AND j.state = :JOB_@)}})
UNION ALL
SELECT 'queue ' || j.queue || ' has a job and no tally' FROM pawl_job j WHERE NOT EXISTS (SELECT 1 FROM pawl_job_tally t WHERE t.queue = j.queue)

-- name: job_unique_held
-- A unique key is held by exactly its unfinished, living job.
SELECT 'unique key ' || unique_key || ' is held by ' || count(*) FROM pawl_job WHERE unique_key IS NOT NULL AND state <> :JOB_DEAD
 GROUP BY unique_key HAVING count(*) > 1
