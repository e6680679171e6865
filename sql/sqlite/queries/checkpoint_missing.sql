-- checkpoint_missing: the checkpoints that an event of a type asks for.
-- params: stream, type, now_ms
INSERT INTO pawl_checkpoint (stream, perspective, version, token, status, attempts, updated_ms, due_ms, created_ms)
SELECT ?1, m.key, 0, 0, 0, 0, ?3, ?3, ?3 FROM pawl_mapping m
 WHERE m.type = ?2 AND NOT EXISTS (SELECT 1 FROM pawl_checkpoint c WHERE c.stream = ?1 AND c.perspective = m.key)
