-- aside_to_dead: copy a message that is aside to the dead letters; its own row is deleted next.
-- params: kind, seq, reason, died_ms, fingerprint
INSERT INTO pawl_dead (kind, seq, lane, key, attempts, deaths, reason, died_ms, out_of_order, error, fingerprint,
                  id, partition, put_ms, stream, topic, type, consumer, correlation_id, causation_id, traceparent, headers, payload)
SELECT kind, seq, lane, key, attempts, deaths, ?3, ?4, out_of_order, error, ?5,
       id, partition, put_ms, stream, topic, type, consumer, correlation_id, causation_id, traceparent, headers, payload
  FROM pawl_aside WHERE kind = ?1 AND seq = ?2
