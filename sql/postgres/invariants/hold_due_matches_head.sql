-- hold_due_matches_head: a waiting hold is due when its first aside row is; a blocked or parked one is due at 0.
SELECT pg_catalog.format('hold of kind %s stream %s is due at %s, not at %s', h.kind, h.key, h.due_ms, f.due_ms)
  FROM pawl.hold h
 CROSS JOIN LATERAL (SELECT CASE WHEN h.state <> 1 THEN 0
                                 ELSE (SELECT a.scheduled_ms FROM pawl.aside a
                                        WHERE a.kind = h.kind AND a.key = h.key ORDER BY a.seq LIMIT 1) END AS due_ms) f
 WHERE h.due_ms IS DISTINCT FROM f.due_ms
