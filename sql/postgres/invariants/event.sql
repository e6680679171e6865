-- event: invariants of events, receptors, perspectives and checkpoints.

-- name: checkpoint_due_known
-- A checkpoint of a perspective is due at some time unless it is completed or stopped; only a granted one has a lease.
SELECT pg_catalog.format('%s of %s: status %s, due %s, stopped %s, lease %s', c.perspective, c.stream, c.status, c.due_ms, c.stopped, c.lease_until_ms)
  FROM pawl_internal.checkpoint c JOIN pawl_internal.perspective p ON p.key = c.perspective
 WHERE (c.due_ms IS NULL) <> (c.status = :CHECKPOINT_COMPLETED OR c.stopped) OR (c.stopped AND c.status <> :CHECKPOINT_FAILED)
    OR (c.instance IS NOT NULL AND (c.status <> :CHECKPOINT_PROCESSING OR c.lease_until_ms = 0 OR c.token = 0))

-- name: checkpoint_for_every_match
-- A stream with an event that a perspective gets has its checkpoint, once the backfill has finished.
SELECT pg_catalog.format('%s gets %s and has no checkpoint for %s', m.key, e.type, e.stream)
  FROM pawl_internal.event e JOIN pawl_internal.mapping m ON m.type = e.type JOIN pawl_internal.perspective p ON p.key = m.key
 WHERE p.state IN (:PERSPECTIVE_LIVE, :PERSPECTIVE_FILLING) AND p.backfilled
   AND NOT EXISTS (SELECT 1 FROM pawl_internal.checkpoint c WHERE c.stream = e.stream AND c.perspective = m.key)

-- name: checkpoint_moved_by_grant
-- A checkpoint that has moved, failed or been taken was granted, and is of a perspective and a stream that exist.
SELECT pg_catalog.format('%s of %s is at %s with status %s, token %s, instance %s', c.perspective, c.stream, c.version, c.status, c.token, c.instance)
  FROM pawl_internal.checkpoint c
 WHERE ((c.version > 0 OR c.status <> :CHECKPOINT_PENDING) AND c.token = 0) OR (c.status = :CHECKPOINT_PROCESSING) <> (c.instance IS NOT NULL)
    OR NOT EXISTS (SELECT 1 FROM pawl_internal.perspective p WHERE p.key = c.perspective)
    OR NOT EXISTS (SELECT 1 FROM pawl_internal.stream s WHERE s.stream = c.stream)

-- name: checkpoint_not_ahead
-- No checkpoint is ahead of its stream's events.
SELECT pg_catalog.format('%s of %s is at %s, the stream at %s', c.perspective, c.stream, c.version, s.version)
  FROM pawl_internal.checkpoint c JOIN pawl_internal.stream s ON s.stream = c.stream JOIN pawl_internal.perspective p ON p.key = c.perspective
 WHERE c.version > s.version

-- name: event_positions_dense
-- Positions are 1 to the last one given, without a gap.
SELECT pg_catalog.format('position %s follows %s events up to %s', p.position, p.before, p.last)
  FROM (SELECT q.position, s.position AS last, q.count,
               coalesce(pg_catalog.sum(q.count) OVER (ORDER BY q.position ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before,
               q.position = max(q.position) OVER () AS newest
          FROM pawl_internal.position q CROSS JOIN pawl_internal.stamper s) p
 WHERE p.position <> p.before + 1 OR (p.newest AND p.last <> p.before + p.count)

-- name: event_receptor_not_ahead
-- No receptor on events is ahead of the last position.
SELECT pg_catalog.format('%s is at %s of %s', r.name, r.position, s.position)
  FROM pawl_internal.event_receptor r CROSS JOIN pawl_internal.stamper s WHERE r.position > s.position

-- name: event_versions_dense
-- The events of a stream have the versions 1 to the stream's, without a gap.
SELECT pg_catalog.format('stream %s is at version %s and has %s events up to %s', coalesce(s.stream, e.stream), s.version, e.count, e.last)
  FROM pawl_internal.stream s FULL JOIN (SELECT x.stream, count(*) AS count, max(x.version) AS last, min(x.version) AS first
                                  FROM pawl_internal.event x GROUP BY x.stream) e ON e.stream = s.stream
 WHERE s.version IS DISTINCT FROM e.count OR s.version IS DISTINCT FROM e.last OR e.first IS DISTINCT FROM 1

-- name: perspective_tally_matches
-- The counts of a perspective are those of its checkpoints and of the events that they are past.
SELECT pg_catalog.format('%s: %s, %s', coalesce(t.key, c.perspective), t, c)
  FROM (SELECT y.key, sum(y.checkpoints) AS n, sum(y.pending) AS p, sum(y.processing) AS r, sum(y.completed) AS d, sum(y.failed) AS f,
               sum(y.stopped) AS s, sum(y.applied) AS a FROM pawl_internal.perspective_tally y GROUP BY y.key) t
  FULL JOIN (SELECT x.perspective, count(*) AS n, count(*) FILTER (WHERE x.status = :CHECKPOINT_PENDING) AS p, count(*) FILTER (WHERE x.status = :CHECKPOINT_PROCESSING) AS r,
                    count(*) FILTER (WHERE x.status = :CHECKPOINT_COMPLETED) AS d, count(*) FILTER (WHERE x.status = :CHECKPOINT_FAILED) AS f,
                    count(*) FILTER (WHERE x.stopped) AS s,
                    sum((SELECT count(*) FROM pawl_internal.event e WHERE e.stream = x.stream AND e.version <= x.version
                            AND EXISTS (SELECT 1 FROM pawl_internal.mapping m WHERE m.type = e.type AND m.key = x.perspective))) AS a
               FROM pawl_internal.checkpoint x GROUP BY x.perspective) c ON c.perspective = t.key
 WHERE (coalesce(t.n, 0), coalesce(t.p, 0), coalesce(t.r, 0), coalesce(t.d, 0), coalesce(t.f, 0), coalesce(t.s, 0))
    IS DISTINCT FROM (coalesce(c.n, 0), coalesce(c.p, 0), coalesce(c.r, 0), coalesce(c.d, 0), coalesce(c.f, 0), coalesce(c.s, 0))
    OR (coalesce(t.a, 0) <> coalesce(c.a, 0)
        AND EXISTS (SELECT 1 FROM pawl_internal.perspective k WHERE k.key = coalesce(t.key, c.perspective) AND k.state IN (:PERSPECTIVE_LIVE, :PERSPECTIVE_FILLING)))
