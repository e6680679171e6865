-- aside_to_history: copy a completed message to the history; its own row is deleted next.
-- params: kind, seq, now_ms
INSERT INTO pawl_history (kind, seq, lane, ended_ms, attempts, deaths, out_of_order, error,
                     id, partition, put_ms, stream, topic, type, consumer, correlation_id, causation_id, traceparent, headers, payload)
SELECT kind, seq, lane, ?3, attempts, deaths, out_of_order, error,
       id, partition, put_ms, stream, topic, type, consumer, correlation_id, causation_id, traceparent, headers, payload
  FROM pawl_aside WHERE kind = ?1 AND seq = ?2
