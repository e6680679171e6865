-- view_history: a completed message as the views show it.
-- params: kind, lane, seq
SELECT seq, lane, id, partition, put_ms, stream, topic, type, consumer, correlation_id, causation_id, traceparent, headers, payload,
       attempts, deaths, out_of_order, 0, 0, ended_ms, error, NULL, coalesce(stream, char(1) || seq)
  FROM pawl_history WHERE kind = ?1 AND lane = ?2 AND seq = ?3
