-- run_item_put: stores an item, or replaces the one with its key.
INSERT INTO pawl_run_item (run, key, part, payload) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (run, key) DO UPDATE SET part = excluded.part, payload = excluded.payload
