-- checkpoint: checkpoints: how far a perspective has applied each stream.

-- name: checkpoint_errors
SELECT e.perspective, e.fingerprint, e.sample, e.count FROM pawl.checkpoint_errors($1, $2) e

-- name: checkpoint_events
SELECT e.stream, e.version, e.position, {{e.event}}, e.replay, e.through_version, e.head
  FROM pawl.checkpoint_events($1, $2, $3, $4) e

-- name: checkpoint_skip
SELECT pawl.checkpoint_skip($1, $2, $3, $4)

-- name: checkpoints_claim
SELECT g.granted, g.stream, g.perspective, g.version, g.head, g.token, g.lease_until_ms, g.replay_to, g.attempt
  FROM pawl.checkpoints_claim($1, $2, $3, $4, $5) g

-- name: checkpoints_list
SELECT c.stream, c.perspective, c.error, c.fingerprint, c.version, c.head, c.token, c.status, c.stopped, c.attempts,
       c.instance, c.lease_until_ms, c.next_ms, c.created_ms, c.updated_ms, c.replay_to, c.failed_version
  FROM pawl.checkpoints_list($1, $2, $3, $4, $5, $6) c

-- name: checkpoints_renew
SELECT pawl.checkpoints_renew($1, $2, $3, $4, $5)

-- name: checkpoints_report
SELECT pawl.checkpoints_report($1, $2, $3, $4, $5, $6, $7, $8)

-- name: view_checkpoint
SELECT c.stream, c.perspective, c.error, c.version, c.token, c.updated_ms, c.status, c.attempts
  FROM pawl.view_checkpoint($1, $2) c
