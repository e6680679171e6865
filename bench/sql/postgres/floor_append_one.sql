-- floor_append_one: one event by a plain INSERT.
INSERT INTO bench.event (stream, version, id, type, payload, appended_ms)
VALUES ($1::text, $2::bigint, $3::uuid, $4::text, $5::json, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
