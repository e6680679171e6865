-- floor_project_events: $1 events over $2 streams, in turn.
INSERT INTO bench.event (stream, version, id, type, payload, appended_ms)
SELECT 'order-' || n % $2::bigint, n / $2::bigint + 1, gen_random_uuid(), 'order.placed',
       ('{"n":' || n || ',"sku":"A-1009","quantity":3,"note":"as agreed"}')::json, 0
  FROM generate_series(0, $1::bigint - 1) AS n
