-- hold_put: hold a stream; a hold that is there is overwritten.
-- params: kind, key, lane, due_ms, state, by_seq
INSERT INTO pawl_hold (kind, key, lane, due_ms, state, by_seq) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    ON CONFLICT (kind, key) DO UPDATE SET due_ms = ?4, state = ?5, by_seq = ?6
