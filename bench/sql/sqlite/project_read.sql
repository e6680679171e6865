-- project_read: the next events by position.
SELECT position, stream, version, id, type, payload, metadata, correlation_id, causation_id, traceparent, appended_ms
  FROM pawl_event WHERE position > ?1 ORDER BY position LIMIT ?2
