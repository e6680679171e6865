-- tombstone_insert: an id that is never accepted again.
-- params: id, now_ms
INSERT OR IGNORE INTO pawl_tombstone (id, removed_ms) VALUES (?1, ?2)
