-- dedupe_insert: the first of its consumer and id wins.
-- params: consumer, id, payload_hash, now_ms
INSERT OR IGNORE INTO pawl_dedupe (consumer, id, payload_hash, seen_ms) VALUES (?1, ?2, ?3, ?4)
