-- dead_to_aside: copy a dead letter back; its own row is deleted next.
-- params: kind, seq, now_ms, out_of_order
INSERT INTO pawl_aside (kind, seq, lane, key, attempts, deaths, losses, reason, scheduled_ms, out_of_order, error,
                   id, partition, put_ms, stream, topic, type, consumer, correlation_id, causation_id, traceparent, headers, payload)
SELECT kind, seq, lane, key, 0, 0, 0, 5, ?3, ?4, error,
       id, partition, put_ms, stream, topic, type, consumer, correlation_id, causation_id, traceparent, headers, payload
  FROM pawl_dead WHERE kind = ?1 AND seq = ?2
