-- floor_project_upsert: the read model from arrays.
INSERT INTO bench.total AS t (stream, version, quantity)
SELECT e.stream, max(e.version), sum((e.payload::json ->> 'quantity')::bigint)
  FROM unnest($1::text[], $2::bigint[], $3::text[]) AS e (stream, version, payload) GROUP BY 1 ORDER BY 1
    ON CONFLICT (stream) DO UPDATE SET version = excluded.version, quantity = t.quantity + excluded.quantity
