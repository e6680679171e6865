-- backfill_insert: their missing checkpoints.
-- params: key, after stream, limit, now_ms
INSERT INTO pawl_checkpoint (stream, perspective, version, token, status, attempts, updated_ms, due_ms, replay_to, created_ms)
SELECT s.stream, ?1, 0, 0, 0, 0, ?4, ?4, s.version, ?4
  FROM (SELECT stream, version FROM pawl_stream WHERE stream > coalesce(?2, '') ORDER BY stream LIMIT ?3) s
 WHERE EXISTS (SELECT 1 FROM pawl_event e JOIN pawl_mapping m ON m.type = e.type AND m.key = ?1 WHERE e.stream = s.stream)
    ON CONFLICT (stream, perspective) DO NOTHING
