-- aside_read: the messages of a held stream in order.
-- params: kind, key, limit
SELECT seq, id, partition, put_ms, stream, topic, type, consumer, correlation_id, causation_id, traceparent, headers, payload,
       attempts, deaths, out_of_order, scheduled_ms, losses
  FROM pawl_aside INDEXED BY pawl_aside_key WHERE kind = ?1 AND key = ?2 ORDER BY seq LIMIT ?3
