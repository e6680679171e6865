-- worker: a worker's batch: reports, claims, waiting for work and being woken.
-- calls: batch_begin, wait_begin, wait_end, wait_late, wake

-- name: listen
-- This session is notified of every wake-up.
LISTEN "pawl.wake"

-- name: work_perspectives
SELECT true, g.stream, g.perspective, g.version, g.head, g.token, g.lease_until_ms, g.replay_to, g.attempt
  FROM pawl_internal.work_perspectives($1, $2, $3, $4, $5) g
