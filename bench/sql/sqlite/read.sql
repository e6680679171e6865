-- read: the next rows of a lane after the cursor, by the primary key.
SELECT seq, partition, put_ms, id, stream, topic, type, consumer, correlation_id, causation_id, traceparent, headers,
       payload
  FROM pawl_message
 WHERE kind = ?1 AND lane = ?2 AND seq > ?3
 ORDER BY seq
 LIMIT ?4
