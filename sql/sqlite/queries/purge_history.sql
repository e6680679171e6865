-- purge_history: completed messages that were kept long enough.
-- params: before_ms, limit
DELETE FROM pawl_history
 WHERE (kind, seq) IN (SELECT kind, seq FROM pawl_history WHERE ended_ms < ?1 ORDER BY ended_ms LIMIT ?2)
