-- perspective_walk: the first event that a perspective has not applied.
-- params: key, after position, through position
SELECT e.position, e.stream, e.appended_ms FROM pawl_event e LEFT JOIN pawl_checkpoint c ON c.stream = e.stream AND c.perspective = ?1
 WHERE e.position > ?2 AND e.position <= ?3 AND e.version > coalesce(c.version, 0)
   AND EXISTS (SELECT 1 FROM pawl_mapping m WHERE m.type = e.type AND m.key = ?1)
 ORDER BY e.position LIMIT 1
