-- floor_append_batch: many events of one stream by one INSERT from arrays.
INSERT INTO bench.event (stream, version, id, type, payload, appended_ms)
SELECT $1::text, $2::bigint - 1 + e.n, e.id, e.type, e.payload::json, (extract(epoch FROM statement_timestamp()) * 1000)::bigint
  FROM unnest($3::uuid[], $4::text[], $5::text[]) WITH ORDINALITY AS e (id, type, payload, n)
