-- floor_read: the next rows of a lane after the cursor, by the index.
SELECT seq, partition, put_ms, id, stream, topic, type, consumer, correlation_id, causation_id, traceparent, headers,
       payload
  FROM bench.message
 WHERE kind = 1 AND lane = $1::int AND seq > $2::bigint
 ORDER BY seq
 LIMIT $3::int
