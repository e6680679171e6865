-- job_view: queries for operators: lists and counts of jobs, and why a job waits.

-- name: job_ahead
-- How many ready jobs come before one.
SELECT count(*) FROM (SELECT 1 FROM pawl_job
    WHERE queue = ?1 AND state = :JOB_READY AND (?2 IS NULL AND key IS NULL OR key = ?2) AND (ord, id) < (?3, ?4) LIMIT ?5)

-- name: job_backlog
-- Waiting jobs by priority, highest first.
-- params: how many ready ones and how many others are examined
-- returns: priority, ready, not due or waiting for a signal
SELECT priority, sum(ready), sum(later) FROM (
    SELECT priority, 1 AS ready, 0 AS later FROM (
        SELECT priority FROM (SELECT priority FROM pawl_job INDEXED BY pawl_job_plain WHERE state = :JOB_READY AND key IS NULL
                              UNION ALL SELECT priority FROM pawl_job INDEXED BY pawl_job_keyed WHERE state = :JOB_READY AND key IS NOT NULL) LIMIT ?1)
    UNION ALL
    SELECT priority, 0, 1 FROM (SELECT priority FROM pawl_job INDEXED BY pawl_job_due WHERE state NOT IN (:JOB_READY, :JOB_RUNNING, :JOB_DEAD) LIMIT ?1))
 GROUP BY priority ORDER BY priority DESC

-- name: job_brief
-- A job without what may be big.
SELECT id, state, ord, due_ms, put_ms, token, lease_until_ms, priority, attempts, max_attempts, flags, deadline_ms, timeout_ms,
       instant_ms, cancel_ms, died_ms, reason, queue, type, task, key, unique_key, traceparent, schedule, wait_key, wait_step,
       fingerprint, error, agent
  FROM pawl_job WHERE id = ?1

-- name: job_dead_groups
-- Dead jobs by fingerprint, biggest group first.
-- params: limit
-- returns: fingerprint, the error of the latest, how many, first_ms, last_ms
WITH biggest (fingerprint, letters) AS MATERIALIZED (
    SELECT fingerprint, letters FROM pawl_dead_tally WHERE kind = :PAWL_JOB ORDER BY letters DESC, fingerprint LIMIT ?1)
SELECT b.fingerprint,
       (SELECT j.error FROM pawl_job AS j WHERE j.state = :JOB_DEAD AND j.fingerprint = b.fingerprint ORDER BY j.died_ms DESC, j.id DESC LIMIT 1),
       b.letters,
       (SELECT min(j.died_ms) FROM pawl_job AS j WHERE j.state = :JOB_DEAD AND j.fingerprint = b.fingerprint),
       (SELECT max(j.died_ms) FROM pawl_job AS j WHERE j.state = :JOB_DEAD AND j.fingerprint = b.fingerprint)
  FROM biggest AS b ORDER BY b.letters DESC, b.fingerprint

-- name: job_full
-- A whole job, and the instance that runs it.
SELECT j.id, j.state, j.ord, j.due_ms, j.put_ms, j.token, j.lease_until_ms, j.priority, j.attempts, j.max_attempts, j.flags, j.deadline_ms, j.timeout_ms, j.instant_ms, j.cancel_ms, j.died_ms, j.reason, j.queue, j.type, j.task, j.key, j.unique_key, j.traceparent, j.schedule, j.wait_key, j.wait_step, j.fingerprint, j.error, j.agent, j.progress, j.payload,
       c.instance
  FROM pawl_job j LEFT JOIN pawl_job_claim c ON c.token = j.token AND j.state = :JOB_RUNNING WHERE j.id = ?1

-- name: job_late
-- How many running jobs have an expired lease.
-- params: how many are counted, now_ms
SELECT count(*) FROM (SELECT 1 FROM pawl_job INDEXED BY pawl_job_token WHERE state = :JOB_RUNNING AND lease_until_ms <= ?2 LIMIT ?1)

-- name: job_list_dead
-- Dead jobs of one cause in order, and whether they fit a filter.
-- params: after_id, state (0: any), queue, task, type, key, fingerprint
SELECT id, (?3 IS NULL OR queue = ?3) AND (?4 IS NULL OR task = ?4) AND (?5 IS NULL OR type = ?5) AND (?6 IS NULL OR key = ?6)
  FROM pawl_job INDEXED BY pawl_job_dead_first WHERE state = :JOB_DEAD AND fingerprint = ?7 AND id > ?1 AND ?2 IN (0, 5)
 ORDER BY id

-- name: job_list_running
-- Running jobs in order, and whether they fit a filter; there are never many.
-- params: after_id, state (not used), queue, task, type, key
SELECT id, (?3 IS NULL OR queue = ?3) AND (?4 IS NULL OR task = ?4) AND (?5 IS NULL OR type = ?5) AND (?6 IS NULL OR key = ?6)
  FROM pawl_job INDEXED BY pawl_job_token WHERE state = :JOB_RUNNING AND token > 0 AND id > ?1 AND ?2 IN (0, 2)
 ORDER BY id

-- name: job_list_view
-- Jobs in order, and whether they fit a filter.
-- params: after_id, state (0: any), queue, task, type, key
SELECT id, (?2 = 0 OR state = ?2) AND (?3 IS NULL OR queue = ?3) AND (?4 IS NULL OR task = ?4) AND (?5 IS NULL OR type = ?5)
           AND (?6 IS NULL OR key = ?6)
  FROM pawl_job NOT INDEXED WHERE id > ?1
 ORDER BY id

-- name: job_tally_add
-- What one call did to the jobs of a queue.
INSERT INTO pawl_job_tally (queue, {{job_tally}}) VALUES (?, {{each job_tally: ?}})
ON CONFLICT (queue) DO UPDATE SET {{each job_tally: @ = @ + excluded.@}}

-- name: job_counts
-- Gauges and counters per queue.
SELECT t.queue, {{t.job_tally}},
       coalesce((SELECT j.due_ms FROM pawl_job j WHERE j.queue = t.queue AND j.state = :JOB_READY AND j.key IS NULL ORDER BY j.ord, j.id LIMIT 1), 0)
  FROM pawl_job_tally t ORDER BY t.queue

-- name: job_worker
-- Whether a live instance works on jobs.
SELECT 1 FROM pawl_instance WHERE state = :INSTANCE_ACTIVE AND kinds & 16 <> 0 AND lease_until_ms > ?1 LIMIT 1
