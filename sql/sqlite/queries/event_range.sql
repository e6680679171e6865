-- event_range: the next events of a stream, whatever their types.
-- params: stream, after version, through version
SELECT stream, version, position, id, type, payload, metadata, correlation_id, causation_id, traceparent, appended_ms
  FROM pawl_event WHERE stream = ?1 AND version > ?2 AND version <= ?3 ORDER BY version
