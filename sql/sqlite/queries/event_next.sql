-- event_next: the next events of a stream for a perspective.
-- params: stream, after version, through version, key, limit
SELECT stream, version, position, id, type, payload, metadata, correlation_id, causation_id, traceparent, appended_ms
  FROM pawl_event e
 WHERE e.stream = ?1 AND e.version > ?2 AND e.version <= ?3
   AND EXISTS (SELECT 1 FROM pawl_mapping m WHERE m.type = e.type AND m.key = ?4)
   AND NOT EXISTS (SELECT 1 FROM pawl_skip k WHERE k.key = ?4 AND k.stream = e.stream AND k.version = e.version)
 ORDER BY e.version LIMIT ?5
