-- worker: a worker's batch: reports, claims, waiting for work and being woken.

-- name: batch_begin
SELECT b.now_ms, b.lease_until_ms FROM pawl.batch_begin($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) b

-- name: listen
-- This session is notified of every wake-up.
LISTEN "pawl.wake"

-- name: wait_begin
SELECT pawl.wait_begin($1, $2, $3)

-- name: wait_end
SELECT pawl.wait_end($1)

-- name: wait_late
SELECT pawl.wait_late()

-- name: wake
SELECT pawl.wake()

-- name: work_perspectives
SELECT true, g.stream, g.perspective, g.version, g.head, g.token, g.lease_until_ms, g.replay_to, g.attempt
  FROM pawl.work_perspectives($1, $2, $3, $4, $5) g
