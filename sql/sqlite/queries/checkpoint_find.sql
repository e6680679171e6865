-- checkpoint_find: where a perspective stands.
-- params: stream, perspective
SELECT version, token, status, attempts, updated_ms, error FROM pawl_checkpoint WHERE stream = ?1 AND perspective = ?2
