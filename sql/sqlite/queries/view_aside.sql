-- view_aside: a message that is aside as the views show it.
-- params: kind, lane, seq
SELECT seq, lane, id, partition, put_ms, stream, topic, type, consumer, correlation_id, causation_id, traceparent, headers, payload,
       attempts, deaths, out_of_order, reason, scheduled_ms, 0, error, NULL, key, losses
  FROM pawl_aside WHERE kind = ?1 AND lane = ?2 AND seq = ?3
