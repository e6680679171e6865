-- purge_history: completed messages that were kept long enough.
-- params: before_ms, limit
DELETE FROM history
 WHERE (kind, seq) IN (SELECT kind, seq FROM history WHERE ended_ms < ?1 ORDER BY ended_ms LIMIT ?2)
