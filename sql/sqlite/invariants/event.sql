-- event: invariants of events, receptors, perspectives and checkpoints.

-- name: checkpoint_due_known
-- A checkpoint of a perspective is due at some time unless it is completed or stopped; only a granted one has a lease.
SELECT c.perspective || ' of ' || c.stream || ': status ' || c.status || ', due ' || coalesce(c.due_ms, '-') || ', stopped ' || c.stopped ||
       ', lease ' || c.lease_until_ms AS detail
  FROM pawl_checkpoint c JOIN pawl_perspective p ON p.key = c.perspective
 WHERE (c.due_ms IS NULL) <> (c.status = :CHECKPOINT_COMPLETED OR c.stopped) OR (c.stopped AND c.status <> :CHECKPOINT_FAILED)
    OR (c.instance IS NOT NULL AND (c.status <> :CHECKPOINT_PROCESSING OR c.lease_until_ms = 0 OR c.token = 0))

-- name: checkpoint_for_every_match
-- A stream with an event that a perspective gets has its checkpoint, once the backfill has finished.
SELECT m.key || ' gets ' || e.type || ' and has no checkpoint for ' || e.stream AS detail
  FROM pawl_event e JOIN pawl_mapping m ON m.type = e.type JOIN pawl_perspective p ON p.key = m.key
 WHERE p.state IN (:PERSPECTIVE_LIVE, :PERSPECTIVE_FILLING) AND p.backfilled
   AND NOT EXISTS (SELECT 1 FROM pawl_checkpoint c WHERE c.stream = e.stream AND c.perspective = m.key)

-- name: checkpoint_moved_by_grant
-- A checkpoint that has moved, failed or been taken was granted, and is of a perspective and a stream that exist.
SELECT c.perspective || ' of ' || c.stream || ' is at ' || c.version || ' with status ' || c.status || ', token ' || c.token AS detail
  FROM pawl_checkpoint c
 WHERE ((c.version > 0 OR c.status <> :CHECKPOINT_PENDING) AND c.token = 0) OR (c.status = :CHECKPOINT_PROCESSING) <> (c.instance IS NOT NULL)
    OR NOT EXISTS (SELECT 1 FROM pawl_perspective p WHERE p.key = c.perspective)
    OR NOT EXISTS (SELECT 1 FROM pawl_stream s WHERE s.stream = c.stream)

-- name: checkpoint_not_ahead
-- No checkpoint is ahead of its stream's events.
SELECT c.perspective || ' of ' || c.stream || ' is at ' || c.version || ', the stream at ' || s.version AS detail
  FROM pawl_checkpoint c JOIN pawl_stream s ON s.stream = c.stream JOIN pawl_perspective p ON p.key = c.perspective WHERE c.version > s.version

-- name: event_positions_dense
-- Positions are 1 to the last one given, without a gap.
SELECT count(*) || ' events have positions up to ' || max(position) AS detail FROM pawl_event HAVING count(*) <> coalesce(max(position), 0)

-- name: event_receptor_not_ahead
-- No receptor on events is ahead of the last position.
SELECT r.name || ' is at ' || r.position AS detail FROM pawl_event_receptor r WHERE r.position > (SELECT coalesce(max(e.position), 0) FROM pawl_event e)

-- name: event_versions_dense
-- The events of a stream have the versions 1 to the stream's, without a gap.
SELECT 'stream ' || coalesce(s.stream, e.stream) || ' is at version ' || coalesce(s.version, 0) || ' and has ' || coalesce(e.count, 0) ||
       ' events' AS detail
  FROM (SELECT stream FROM pawl_stream UNION SELECT stream FROM pawl_event) n
  LEFT JOIN pawl_stream s ON s.stream = n.stream
  LEFT JOIN (SELECT stream, count(*) AS count, max(version) AS last, min(version) AS first FROM pawl_event GROUP BY stream) e
         ON e.stream = n.stream
 WHERE s.version IS NOT e.count OR s.version IS NOT e.last OR e.first IS NOT 1

-- name: perspective_tally_matches
-- The counts of a perspective are those of its checkpoints and of the events that they are past.
SELECT t.key || ' counts ' || t.checkpoints || ' checkpoints and ' || t.applied || ' events, there are ' || coalesce(c.n, 0) || ' and ' ||
       coalesce(c.a, 0) AS detail
  FROM pawl_perspective_tally t
  LEFT JOIN (SELECT perspective, count(*) AS n, sum(status = :CHECKPOINT_PENDING) AS p, sum(status = :CHECKPOINT_PROCESSING) AS r, sum(status = :CHECKPOINT_COMPLETED) AS d, sum(status = :CHECKPOINT_FAILED) AS f,
                    sum(stopped) AS s,
                    sum((SELECT count(*) FROM pawl_event e JOIN pawl_mapping m ON m.type = e.type AND m.key = pawl_checkpoint.perspective
                          WHERE e.stream = pawl_checkpoint.stream AND e.version <= pawl_checkpoint.version)) AS a
               FROM pawl_checkpoint GROUP BY perspective) c ON c.perspective = t.key
 WHERE t.checkpoints <> coalesce(c.n, 0) OR t.pending <> coalesce(c.p, 0) OR t.processing <> coalesce(c.r, 0)
    OR t.completed <> coalesce(c.d, 0) OR t.failed <> coalesce(c.f, 0) OR t.stopped <> coalesce(c.s, 0)
    OR (t.applied <> coalesce(c.a, 0) AND EXISTS (SELECT 1 FROM pawl_perspective k WHERE k.key = t.key AND k.state IN (:PERSPECTIVE_LIVE, :PERSPECTIVE_FILLING)))
