-- event_read: events of a stream.
-- params: stream, first version, last version, as_of_ms, limit
SELECT stream, version, position, id, type, payload, metadata, correlation_id, causation_id, traceparent, appended_ms
  FROM pawl_event WHERE stream = ?1 AND version >= ?2 AND version <= ?3 AND (?4 = 0 OR appended_ms <= ?4) ORDER BY version LIMIT ?5
