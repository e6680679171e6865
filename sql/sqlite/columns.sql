-- columns: lists of columns that statements share, as {{message}}, or {{m.message}} of the alias m.

-- name: message
partition, id, stream, topic, type, payload, headers, correlation_id, causation_id, traceparent, consumer, put_ms

-- name: event
id, type, payload, metadata, correlation_id, causation_id, traceparent, appended_ms
