-- checkpoint: checkpoints: how far a perspective has applied each stream.

-- name: checkpoint_any
-- Whether a stream has a checkpoint.
-- params: stream
SELECT 1 FROM pawl_checkpoint WHERE stream = ?1 LIMIT 1

-- name: checkpoint_behind
-- The checkpoints that lag, of these streams and of perspectives that are live or filling.
-- params: streams as a JSON array
SELECT c.stream, c.perspective, c.error, c.fingerprint, c.version, coalesce(s.version, 0), c.token, c.status, c.stopped, c.attempts,
       c.instance, c.lease_until_ms, c.due_ms, c.created_ms, c.updated_ms, c.replay_to, c.failed_version
  FROM (SELECT DISTINCT value AS stream FROM json_each(?1)) w
  JOIN pawl_stream s ON s.stream = w.stream JOIN pawl_checkpoint c ON c.stream = w.stream JOIN pawl_perspective p ON p.key = c.perspective
 WHERE p.state IN (:PERSPECTIVE_LIVE, :PERSPECTIVE_FILLING) AND c.version < s.version ORDER BY c.stream, c.perspective

-- name: checkpoint_due
-- The checkpoints of a perspective that are due.
-- params: key, now_ms, limit
SELECT c.stream, c.perspective, c.error, c.fingerprint, c.version, coalesce(s.version, 0), c.token, c.status, c.stopped, c.attempts,
       c.instance, c.lease_until_ms, c.due_ms, c.created_ms, c.updated_ms, c.replay_to, c.failed_version
  FROM pawl_checkpoint c LEFT JOIN pawl_stream s ON s.stream = c.stream
 WHERE c.perspective = ?1 AND c.due_ms <= ?2 AND c.due_ms IS NOT NULL ORDER BY c.due_ms, c.stream LIMIT ?3

-- name: checkpoint_errors
-- The most common errors of failed checkpoints.
-- params: perspective, limit
SELECT perspective, fingerprint, min(error), count(*) FROM pawl_checkpoint WHERE status = :CHECKPOINT_FAILED AND (?1 IS NULL OR perspective = ?1)
 GROUP BY perspective, fingerprint ORDER BY 4 DESC, 1, 2 LIMIT ?2

-- name: checkpoint_find
-- How far a perspective is in a stream.
-- params: stream, perspective
SELECT stream, perspective, error, version, token, updated_ms, status, attempts FROM pawl_checkpoint WHERE stream = ?1 AND perspective = ?2

-- name: checkpoint_held
-- What an instance holds that a batch granted.
-- params: instance, request
SELECT c.stream, c.perspective, c.error, c.fingerprint, c.version, coalesce(s.version, 0), c.token, c.status, c.stopped, c.attempts,
       c.instance, c.lease_until_ms, c.due_ms, c.created_ms, c.updated_ms, c.replay_to, c.failed_version
  FROM pawl_checkpoint c LEFT JOIN pawl_stream s ON s.stream = c.stream
 WHERE c.instance = ?1 AND c.request = ?2 AND c.status = :CHECKPOINT_PROCESSING ORDER BY c.stream, c.perspective

-- name: checkpoint_leave
-- What an instance held is free.
-- params: instance, now_ms
UPDATE pawl_checkpoint SET status = :CHECKPOINT_PENDING, instance = NULL, lease_until_ms = 0, due_ms = ?2, updated_ms = ?2 WHERE instance = ?1

-- name: checkpoint_list
-- Checkpoints by stream and perspective, as they are seen.
-- params: perspective, stream, status, after stream, after perspective, limit
SELECT c.stream, c.perspective, c.error, c.fingerprint, c.version, coalesce(s.version, 0), c.token, c.status, c.stopped, c.attempts,
       c.instance, c.lease_until_ms, c.due_ms, c.created_ms, c.updated_ms, c.replay_to, c.failed_version
  FROM pawl_checkpoint c LEFT JOIN pawl_stream s ON s.stream = c.stream
 WHERE (?1 IS NULL OR c.perspective = ?1) AND (?2 IS NULL OR c.stream = ?2)
   AND (?3 = -1 OR ?3 = CASE WHEN c.status = :CHECKPOINT_COMPLETED AND s.version > c.version THEN 0 ELSE c.status END)
   AND (?4 IS NULL OR (c.stream, c.perspective) > (?4, coalesce(?5, '')))
 ORDER BY c.stream, c.perspective LIMIT ?6

-- name: checkpoint_lost
-- What an instance was granted under a token that it does not know is free.
-- params: instance, token, now_ms
UPDATE pawl_checkpoint SET status = :CHECKPOINT_PENDING, instance = NULL, lease_until_ms = 0, due_ms = ?3, updated_ms = ?3
 WHERE instance = ?1 AND token = ?2

-- name: checkpoint_missing
-- The checkpoints that an event of a type asks for.
-- params: stream, type, now_ms
INSERT INTO pawl_checkpoint (stream, perspective, version, token, status, attempts, updated_ms, due_ms, created_ms)
SELECT ?1, m.key, 0, 0, 0, 0, ?3, ?3, ?3 FROM pawl_mapping m
 WHERE m.type = ?2 AND NOT EXISTS (SELECT 1 FROM pawl_checkpoint c WHERE c.stream = ?1 AND c.perspective = m.key)

-- name: checkpoint_move
-- Moves a checkpoint that has neither error nor lease, and had none.
-- params: stream, perspective, version, token, status, attempts, due_ms, now_ms
-- Only the columns that change: indexes on the others are not looked at.
UPDATE pawl_checkpoint SET version = ?3, token = ?4, status = ?5, attempts = ?6, due_ms = ?7, updated_ms = ?8
 WHERE stream = ?1 AND perspective = ?2

-- name: checkpoint_of_instance
-- The tokens under which an instance holds checkpoints.
-- params: instance
SELECT DISTINCT token FROM pawl_checkpoint WHERE instance = ?1 ORDER BY token

-- name: checkpoint_read
-- A checkpoint and the version of its stream.
-- params: stream, perspective
SELECT c.stream, c.perspective, c.error, c.fingerprint, c.version, coalesce(s.version, 0), c.token, c.status, c.stopped, c.attempts,
       c.instance, c.lease_until_ms, c.due_ms, c.created_ms, c.updated_ms, c.replay_to, c.failed_version
  FROM pawl_checkpoint c LEFT JOIN pawl_stream s ON s.stream = c.stream WHERE c.stream = ?1 AND c.perspective = ?2

-- name: checkpoint_rebuild
-- Checkpoints begin again.
-- params: key, streams as a JSON array or NULL, now_ms, token
UPDATE pawl_checkpoint
   SET status = :CHECKPOINT_PENDING, version = 0, due_ms = ?3, stopped = 0, attempts = 0, error = NULL, fingerprint = NULL, failed_version = 0, token = ?4,
       instance = NULL, lease_until_ms = 0, updated_ms = ?3,
       replay_to = (SELECT s.version FROM pawl_stream s WHERE s.stream = pawl_checkpoint.stream)
 WHERE perspective = ?1 AND (?2 IS NULL OR stream IN (SELECT value FROM json_each(?2)))
   AND EXISTS (SELECT 1 FROM pawl_stream s WHERE s.stream = pawl_checkpoint.stream)

-- name: checkpoint_renew
-- A granted checkpoint has a new lease.
-- params: stream, perspective, token, until_ms, instance
UPDATE pawl_checkpoint SET lease_until_ms = ?4, due_ms = ?4
 WHERE stream = ?1 AND perspective = ?2 AND token = ?3 AND status = :CHECKPOINT_PROCESSING AND instance = ?5

-- name: checkpoint_request
-- The batch that a checkpoint was granted to.
-- params: stream, perspective, request
UPDATE pawl_checkpoint SET request = ?3 WHERE stream = ?1 AND perspective = ?2

-- name: checkpoint_reset_applied
-- How many events a rebuild takes back.
-- params: key, streams as a JSON array or NULL
SELECT count(*) FROM pawl_checkpoint c JOIN pawl_event e ON e.stream = c.stream AND e.version <= c.version
  JOIN pawl_mapping m ON m.type = e.type AND m.key = ?1
 WHERE c.perspective = ?1 AND (?2 IS NULL OR c.stream IN (SELECT value FROM json_each(?2)))

-- name: checkpoint_reset_failed
-- Failed checkpoints are tried again.
-- params: key, streams as a JSON array or NULL, now_ms
UPDATE pawl_checkpoint
   SET status = :CHECKPOINT_PENDING, due_ms = ?3, stopped = 0, attempts = 0, error = NULL, fingerprint = NULL, failed_version = 0, updated_ms = ?3
 WHERE perspective = ?1 AND status = :CHECKPOINT_FAILED AND (?2 IS NULL OR stream IN (SELECT value FROM json_each(?2)))

-- name: checkpoint_write
-- Moves a checkpoint.
-- params: stream, perspective, version, token, status, attempts, error, fingerprint, stopped, instance, lease_until_ms, due_ms,
--   failed_version, replay_to, now_ms
UPDATE pawl_checkpoint
   SET version = ?3, token = ?4, status = ?5, attempts = ?6, error = ?7, fingerprint = ?8, stopped = ?9, instance = ?10,
       lease_until_ms = ?11, due_ms = ?12, failed_version = ?13, replay_to = ?14, updated_ms = ?15
 WHERE stream = ?1 AND perspective = ?2

-- name: skip_any
-- Whether a perspective leaves any event out.
-- params: key
SELECT 1 FROM pawl_skip WHERE key = ?1 LIMIT 1

-- name: skip_find
-- Whether a perspective leaves an event out.
-- params: key, stream, version
SELECT 1 FROM pawl_skip WHERE key = ?1 AND stream = ?2 AND version = ?3

-- name: skip_insert
-- A perspective leaves an event out.
-- params: key, stream, version, reason, now_ms
INSERT INTO pawl_skip (key, stream, version, reason, skipped_ms) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING
