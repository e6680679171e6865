-- floor_put_batch: many rows by one INSERT from arrays.
INSERT INTO bench.message (kind, lane, seq, partition, id, put_ms, stream, topic, type, payload)
SELECT 1, m.lane, nextval('bench.message_seq'), m.partition, m.id,
       (extract(epoch FROM statement_timestamp()) * 1000)::bigint, m.stream, m.topic, m.type, m.payload::json
  FROM unnest($1::int[], $2::int[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[])
       AS m (lane, partition, id, stream, topic, type, payload)
