-- floor_project_read: the next events by position.
SELECT position, stream, version, id, type, payload, metadata, correlation_id, causation_id, traceparent, appended_ms
  FROM bench.event WHERE position > $1::bigint ORDER BY position LIMIT $2::int
