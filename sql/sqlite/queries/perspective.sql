-- perspective: perspectives (projections): definition, state, rebuilding, applying events.

-- name: backfill_insert
-- Their missing checkpoints.
-- params: key, after stream, limit, now_ms
INSERT INTO pawl_checkpoint (stream, perspective, version, token, status, attempts, updated_ms, due_ms, replay_to, created_ms)
SELECT s.stream, ?1, 0, 0, 0, 0, ?4, ?4, s.version, ?4
  FROM (SELECT stream, version FROM pawl_stream WHERE stream > coalesce(?2, '') ORDER BY stream LIMIT ?3) s
 WHERE EXISTS (SELECT 1 FROM pawl_event e JOIN pawl_mapping m ON m.type = e.type AND m.key = ?1 WHERE e.stream = s.stream)
    ON CONFLICT (stream, perspective) DO NOTHING

-- name: backfill_streams
-- The next streams of a backfill.
-- params: after stream, limit
SELECT count(*), max(stream) FROM (SELECT stream FROM pawl_stream WHERE stream > coalesce(?1, '') ORDER BY stream LIMIT ?2)

-- name: mapping_delete
-- A perspective gets no more events.
-- params: key
DELETE FROM pawl_mapping WHERE key = ?1

-- name: mapping_insert
-- A perspective gets events of a type.
-- params: type, key
INSERT INTO pawl_mapping (type, key) VALUES (?1, ?2) ON CONFLICT DO NOTHING

-- name: mapping_types
-- Types of events that a perspective gets.
-- params: key, limit
SELECT type FROM pawl_mapping WHERE key = ?1 LIMIT ?2

-- name: perspective_behind
-- In how many streams a perspective has not applied everything.
-- params: key
SELECT count(*) FROM pawl_checkpoint c JOIN pawl_stream s ON s.stream = c.stream WHERE c.perspective = ?1 AND c.version < s.version

-- name: perspective_fed
-- The keys of the perspectives that are live or filling.
-- params: none
SELECT key FROM pawl_perspective WHERE state IN (:PERSPECTIVE_LIVE, :PERSPECTIVE_FILLING) ORDER BY key

-- name: perspective_find
-- A version of a perspective.
-- params: key
SELECT state, paused, run, target, clear, batch, max_attempts, policy, backfilled, backfill_after, position, version, name
  FROM pawl_perspective WHERE key = ?1

-- name: perspective_insert
-- A new version of a perspective.
-- params: key, name, version, state, run, target, clear, batch, max_attempts, policy, now_ms
INSERT INTO pawl_perspective (key, name, version, state, paused, run, target, clear, batch, max_attempts, policy, backfilled, position,
                         registered_ms)
VALUES (?1, ?2, ?3, ?4, 0, ?5, ?6, ?7, ?8, ?9, ?10, 0, 0, ?11)

-- name: perspective_list
-- The perspectives with their counts.
-- params: name or NULL
SELECT p.key, p.name, p.version, p.state, p.paused, p.backfilled, p.run, p.target, p.clear, p.batch, p.max_attempts, p.policy,
       p.registered_ms, coalesce(t.checkpoints, 0), coalesce(t.pending, 0), coalesce(t.processing, 0), coalesce(t.completed, 0),
       coalesce(t.failed, 0), coalesce(t.stopped, 0),
       (SELECT coalesce(sum(e.events), 0) FROM pawl_mapping m JOIN pawl_event_type e ON e.type = m.type WHERE m.key = p.key),
       coalesce(t.applied, 0), p.position
  FROM pawl_perspective p LEFT JOIN pawl_perspective_tally t ON t.key = p.key
 WHERE CASE WHEN ?1 IS NULL THEN p.state <> :PERSPECTIVE_REMOVED ELSE p.name = ?1 END ORDER BY p.name, p.version

-- name: perspective_live
-- The live version of a perspective.
-- params: name
SELECT key FROM pawl_perspective WHERE name = ?1 AND state = :PERSPECTIVE_LIVE

-- name: perspective_refill
-- A version that was given up is filled again.
-- params: key, state
UPDATE pawl_perspective SET state = ?2, paused = 0, backfilled = 0, backfill_after = NULL, position = 0 WHERE key = ?1

-- name: perspective_set_backfill
-- How far a backfill is.
-- params: key, last stream, done
UPDATE pawl_perspective SET backfill_after = coalesce(?2, backfill_after), backfilled = ?3 WHERE key = ?1

-- name: perspective_set_position
-- Up to where everything is applied.
-- params: key, position
UPDATE pawl_perspective SET position = ?2 WHERE key = ?1

-- name: perspective_set_state
-- A version of a perspective changes.
-- params: key, state, paused
UPDATE pawl_perspective SET state = ?2, paused = ?3 WHERE key = ?1

-- name: perspective_tally_again
-- Recounts the states of checkpoints, after many were changed at once.
-- params: key; NULL: of all perspectives
UPDATE pawl_perspective_tally
   SET (pending, processing, completed, failed, stopped) =
       (SELECT coalesce(sum(c.status = :CHECKPOINT_PENDING), 0), coalesce(sum(c.status = :CHECKPOINT_PROCESSING), 0), coalesce(sum(c.status = :CHECKPOINT_COMPLETED), 0),
               coalesce(sum(c.status = :CHECKPOINT_FAILED), 0), coalesce(sum(c.stopped), 0)
          FROM pawl_checkpoint c WHERE c.perspective = pawl_perspective_tally.key)
 WHERE ?1 IS NULL OR key = ?1

-- name: perspective_tally_moved
-- How the counts of a perspective change.
-- params: key, and what is added to pending, processing, completed, failed, stopped, applied
UPDATE pawl_perspective_tally
   SET pending = pending + ?2, processing = processing + ?3, completed = completed + ?4, failed = failed + ?5, stopped = stopped + ?6,
       applied = applied + ?7
 WHERE key = ?1

-- name: perspective_walk
-- The first event that a perspective has not applied.
-- params: key, after position, through position
SELECT e.position, e.stream, e.appended_ms FROM pawl_event e LEFT JOIN pawl_checkpoint c ON c.stream = e.stream AND c.perspective = ?1
 WHERE e.position > ?2 AND e.position <= ?3 AND e.version > coalesce(c.version, 0)
   AND EXISTS (SELECT 1 FROM pawl_mapping m WHERE m.type = e.type AND m.key = ?1)
 ORDER BY e.position LIMIT 1
