-- message_to_history: copy a range of completed messages to the history; their own rows are deleted next.
-- params: kind, lane, first_seq, last_seq, now_ms
INSERT INTO pawl_history (kind, seq, lane, ended_ms, attempts, deaths, out_of_order,
                     id, partition, put_ms, stream, topic, type, consumer, correlation_id, causation_id, traceparent, headers, payload)
SELECT kind, seq, lane, ?5, 0, 0, 0,
       id, partition, put_ms, stream, topic, type, consumer, correlation_id, causation_id, traceparent, headers, payload
  FROM pawl_message WHERE kind = ?1 AND lane = ?2 AND seq BETWEEN ?3 AND ?4
