-- floor_item_put: the items of one page by one upsert from arrays.
INSERT INTO bench.item (run, part, key, payload)
SELECT 1, $1::int, i.key, i.payload::json FROM unnest($2::text[], $3::text[]) AS i (key, payload)
ON CONFLICT (run, key) DO UPDATE SET payload = excluded.payload, part = excluded.part
