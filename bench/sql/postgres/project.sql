-- project: what a perspective does with its events.
INSERT INTO bench.total AS t (stream, version, quantity)
SELECT e ->> 'stream', max((e ->> 'version')::bigint), sum((e -> 'payload' ->> 'quantity')::bigint)
  FROM json_array_elements($1::json) AS e GROUP BY 1 ORDER BY 1
    ON CONFLICT (stream) DO UPDATE SET version = excluded.version, quantity = t.quantity + excluded.quantity
