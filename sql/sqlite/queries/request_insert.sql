-- request_insert: use a request key; no row is written when it was used before.
-- params: key, now_ms
INSERT OR IGNORE INTO pawl_request (key, used_ms) VALUES (?1, ?2)
