-- job_claim: claims of jobs: granting, renewing, expiring, keys.

-- name: job_claim_any
-- Whether anything runs.
SELECT 1 FROM pawl_job_claim WHERE active = 1 LIMIT 1

-- name: job_claim_find
-- A claim by its token, and whether its holder tells what begins.
SELECT token, instance, queue, check_ms, active, intact, forgot,
       EXISTS (SELECT 1 FROM pawl_instance i WHERE i.id = c.instance AND i.slots > 0)
  FROM pawl_job_claim c WHERE token = ?1

-- name: job_claim_insert
-- A claim.
INSERT INTO pawl_job_claim (token, instance, queue, lease_until_ms, check_ms, active, intact, forgot, request)
VALUES (?1, ?2, ?3, ?4, ?4, 1, 1, 0, ?5)

-- name: job_claim_list
-- Claims that may have lost something: overdue, or of an instance that is gone.
SELECT c.token, i.id IS NULL OR i.state = :INSTANCE_EVICTED OR i.lease_until_ms <= ?1 FROM pawl_job_claim c LEFT JOIN pawl_instance i ON i.id = c.instance
 WHERE c.active = 1 AND (c.check_ms <= ?1 OR i.id IS NULL OR i.state = :INSTANCE_EVICTED OR i.lease_until_ms <= ?1)
 ORDER BY c.token LIMIT ?2

-- name: job_claim_of_instance
-- The active claims of an instance.
SELECT token FROM pawl_job_claim WHERE instance = ?1 AND active = 1 ORDER BY token

-- name: job_claim_set
-- What changes in a claim.
UPDATE pawl_job_claim SET check_ms = ?2, active = ?3, intact = ?4, forgot = ?5 WHERE token = ?1

-- name: job_holder
-- The unfinished job that holds a unique key.
SELECT id FROM pawl_job WHERE unique_key = ?1 AND unique_key IS NOT NULL AND state <> :JOB_DEAD

-- name: job_key_find
-- The state of a key.
SELECT running, vtime, tat_us FROM pawl_job_key WHERE key = ?1

-- name: job_key_free
-- A lease of a key has ended.
UPDATE pawl_job_key SET running = running - 1 WHERE key = ?1

-- name: job_key_next
-- The next key of a queue that has a ready job.
SELECT key FROM pawl_job WHERE queue = ?1 AND key > ?2 AND key IS NOT NULL AND state = :JOB_READY ORDER BY key LIMIT 1

-- name: job_key_put
-- Keeps the state of a key.
INSERT INTO pawl_job_key (key, running, vtime, tat_us) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (key) DO UPDATE SET running = excluded.running, vtime = excluded.vtime, tat_us = excluded.tat_us

-- name: job_lease
-- A job is granted.
UPDATE pawl_job SET state = :JOB_RUNNING, token = ?2, lease_until_ms = ?3, attempts = attempts + 1 WHERE id = ?1

-- name: job_list_due
-- Jobs that have become due, in order.
SELECT id FROM pawl_job WHERE state NOT IN (:JOB_READY, :JOB_RUNNING, :JOB_DEAD) AND due_ms <= ?1 ORDER BY due_ms, id LIMIT ?2

-- name: job_list_keyed
-- Ready jobs of a key, in order.
SELECT id FROM pawl_job WHERE queue = ?1 AND key = ?2 AND key IS NOT NULL AND state = :JOB_READY ORDER BY ord, id LIMIT ?3

-- name: job_list_overdue
-- Ready jobs whose deadline has come.
SELECT id FROM pawl_job WHERE state = :JOB_READY AND deadline_ms > 0 AND deadline_ms <= ?1 ORDER BY deadline_ms, id LIMIT ?2

-- name: job_list_plain
-- Ready jobs without a key, in order.
SELECT id FROM pawl_job WHERE queue = ?1 AND state = :JOB_READY AND key IS NULL ORDER BY ord, id LIMIT ?2

-- name: job_claim_of_request
-- The claim that a request was granted, while it has unfinished jobs.
SELECT token FROM pawl_job_claim WHERE request = ?1 AND instance = ?2 AND active = 1

-- name: job_list_token
-- The unfinished jobs of a claim, by id.
SELECT id FROM pawl_job WHERE token = ?1 AND state = :JOB_RUNNING ORDER BY id

-- name: job_list_granted
-- The unfinished jobs of a claim, in order, as a worker gets them.
SELECT id, token, lease_until_ms, type, queue, payload, task, key, unique_key, traceparent, schedule, progress, priority, attempts,
       max_attempts, flags, put_ms, due_ms, deadline_ms, timeout_ms, instant_ms, cancel_ms, agent
  FROM pawl_job WHERE token = ?1 AND state = :JOB_RUNNING ORDER BY ord, id

-- name: job_list_waiting
-- Jobs that wait for a signal, by id.
SELECT id FROM pawl_job WHERE wait_key = ?1 AND state = :JOB_WAITING ORDER BY id

-- name: job_renew
-- A job stays with its holder.
UPDATE pawl_job SET lease_until_ms = ?2, flags = flags | 32, progress = coalesce(?3, progress) WHERE id = ?1

-- name: sweep_job_claims
-- Claims that ended an hour ago.
DELETE FROM pawl_job_claim WHERE token IN (SELECT token FROM pawl_job_claim WHERE active = 0 AND lease_until_ms < ?1 - 3600000 LIMIT ?2)
