-- perspective_list: the perspectives with their counts.
-- params: name or NULL
SELECT p.key, p.name, p.version, p.state, p.paused, p.backfilled, p.run, p.target, p.clear, p.batch, p.max_attempts, p.policy,
       p.registered_ms, coalesce(t.checkpoints, 0), coalesce(t.pending, 0), coalesce(t.processing, 0), coalesce(t.completed, 0),
       coalesce(t.failed, 0), coalesce(t.stopped, 0),
       (SELECT coalesce(sum(e.events), 0) FROM pawl_mapping m JOIN pawl_event_type e ON e.type = m.type WHERE m.key = p.key),
       coalesce(t.applied, 0), p.position
  FROM pawl_perspective p LEFT JOIN pawl_perspective_tally t ON t.key = p.key
 WHERE CASE WHEN ?1 IS NULL THEN p.state <> 4 ELSE p.name = ?1 END ORDER BY p.name, p.version
