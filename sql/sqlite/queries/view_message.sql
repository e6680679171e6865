-- view_message: a waiting or claimed message as the views show it.
-- params: kind, lane, seq
SELECT seq, lane, id, partition, put_ms, stream, topic, type, consumer, correlation_id, causation_id, traceparent, headers, payload,
       0, 0, 0, 0, 0, 0, NULL, NULL, coalesce(stream, char(1) || seq)
  FROM pawl_message WHERE kind = ?1 AND lane = ?2 AND seq = ?3
