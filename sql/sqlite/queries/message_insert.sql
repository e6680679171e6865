-- message_insert: one new message.
-- params: kind, lane, seq, id, partition, put_ms, stream, topic, type, consumer, correlation_id, causation_id,
--   traceparent, headers, payload
INSERT INTO pawl_message (kind, lane, seq, id, partition, put_ms, stream, topic, type, consumer, correlation_id, causation_id,
                     traceparent, headers, payload)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
