-- view_dead: a dead letter as the views show it.
-- params: kind, lane, seq
SELECT seq, lane, id, partition, put_ms, stream, topic, type, consumer, correlation_id, causation_id, traceparent, headers, payload,
       attempts, deaths, out_of_order, reason, 0, died_ms, error, fingerprint, key
  FROM pawl_dead WHERE kind = ?1 AND lane = ?2 AND seq = ?3
