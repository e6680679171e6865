-- event_all: events of all streams.
-- params: first position, last position, as_of_ms, limit
SELECT stream, version, position, id, type, payload, metadata, correlation_id, causation_id, traceparent, appended_ms
  FROM pawl_event WHERE position >= ?1 AND position <= ?2 AND (?3 = 0 OR appended_ms <= ?3) ORDER BY position LIMIT ?4
