-- checkpoint_list: checkpoints by stream and perspective, as they are seen.
-- params: perspective, stream, status, after stream, after perspective, limit
SELECT c.stream, c.perspective, c.error, c.fingerprint, c.version, coalesce(s.version, 0), c.token, c.status, c.stopped, c.attempts,
       c.instance, c.lease_until_ms, c.due_ms, c.created_ms, c.updated_ms, c.replay_to, c.failed_version
  FROM pawl_checkpoint c LEFT JOIN pawl_stream s ON s.stream = c.stream
 WHERE (?1 IS NULL OR c.perspective = ?1) AND (?2 IS NULL OR c.stream = ?2)
   AND (?3 = -1 OR ?3 = CASE WHEN c.status = 2 AND s.version > c.version THEN 0 ELSE c.status END)
   AND (?4 IS NULL OR (c.stream, c.perspective) > (?4, coalesce(?5, '')))
 ORDER BY c.stream, c.perspective LIMIT ?6
