-- checkpoint_make: a checkpoint that nobody has reported yet.
-- params: stream, perspective, now_ms
INSERT INTO pawl_checkpoint (stream, perspective, version, token, status, attempts, updated_ms, created_ms, due_ms)
VALUES (?1, ?2, 0, 0, 0, 0, ?3, ?3, ?3) ON CONFLICT DO NOTHING
