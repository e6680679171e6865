-- message_read: the next messages of a lane after its cursor.
-- params: kind, lane, after_seq, limit
SELECT seq, id, partition, put_ms, stream, topic, type, consumer, correlation_id, causation_id, traceparent, headers, payload
  FROM pawl_message WHERE kind = ?1 AND lane = ?2 AND seq > ?3 ORDER BY seq LIMIT ?4
