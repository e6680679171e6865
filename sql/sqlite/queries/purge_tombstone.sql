-- purge_tombstone: tombstones that are old.
-- params: before_ms, limit
DELETE FROM pawl_tombstone WHERE id IN (SELECT id FROM pawl_tombstone WHERE removed_ms < ?1 ORDER BY removed_ms LIMIT ?2)
