-- message_to_aside: copy a message aside; its own row is deleted next.
-- params: kind, lane, seq, attempts, deaths, reason, scheduled_ms, error, losses
INSERT INTO pawl_aside (kind, seq, lane, key, attempts, deaths, losses, reason, scheduled_ms, out_of_order, error,
                   id, partition, put_ms, stream, topic, type, consumer, correlation_id, causation_id, traceparent, headers, payload)
SELECT kind, seq, lane, coalesce(stream, char(1) || seq), ?4, ?5, ?9, ?6, ?7, 0, ?8,
       id, partition, put_ms, stream, topic, type, consumer, correlation_id, causation_id, traceparent, headers, payload
  FROM pawl_message WHERE kind = ?1 AND lane = ?2 AND seq = ?3
