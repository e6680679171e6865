-- snapshot_insert: a kept state.
-- params: stream, name, version, state, now_ms
INSERT INTO pawl_snapshot (stream, name, version, state, made_ms) VALUES (?1, ?2, ?3, ?4, ?5)
