-- floor_put_one: one row by a plain INSERT.
INSERT INTO bench.message (kind, lane, seq, partition, id, put_ms, stream, topic, type, payload)
VALUES (1, $1::int, nextval('bench.message_seq'), $2::int, $3::uuid,
        (extract(epoch FROM clock_timestamp()) * 1000)::bigint, $4::text, $5::text, $6::text, $7::json)
