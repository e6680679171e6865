-- skip_insert: a perspective leaves an event out.
-- params: key, stream, version, reason, now_ms
INSERT INTO pawl_skip (key, stream, version, reason, skipped_ms) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING
