-- project: what a perspective does with its events.
INSERT INTO bench.total AS t (stream, version, quantity)
SELECT e.stream, max(e.version), sum((e.payload ->> 'quantity')::bigint) FROM pawl.event_rows($1) AS e GROUP BY 1 ORDER BY 1
    ON CONFLICT (stream) DO UPDATE SET version = excluded.version, quantity = t.quantity + excluded.quantity
