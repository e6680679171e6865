-- message_get: one message.
-- params: kind, lane, seq
SELECT seq, id, partition, put_ms, stream, topic, type, consumer, correlation_id, causation_id, traceparent, headers, payload
  FROM pawl_message WHERE kind = ?1 AND lane = ?2 AND seq = ?3
