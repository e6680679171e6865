-- columns: lists of columns that statements share, as {{message}}, or {{m.message}} of the alias m.

-- name: message
id, partition, put_ms, stream, topic, type, consumer, correlation_id, causation_id, traceparent, headers, payload

-- name: event
id, type, payload, metadata, correlation_id, causation_id, traceparent, appended_ms
