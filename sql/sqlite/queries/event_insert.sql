-- event_insert: one event; its position is the next one.
-- params: stream, version, id, type, payload, metadata, correlation_id, causation_id, traceparent, now_ms
INSERT INTO pawl_event (stream, version, id, type, payload, metadata, correlation_id, causation_id, traceparent, appended_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
