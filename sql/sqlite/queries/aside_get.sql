-- aside_get: one message that is aside.
-- params: kind, seq
SELECT seq, id, partition, put_ms, stream, topic, type, consumer, correlation_id, causation_id, traceparent, headers, payload,
       attempts, deaths, out_of_order, scheduled_ms, losses
  FROM pawl_aside WHERE kind = ?1 AND seq = ?2
