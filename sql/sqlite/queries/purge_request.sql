-- purge_request: request keys that are old.
-- params: before_ms, limit
DELETE FROM pawl_request WHERE key IN (SELECT key FROM pawl_request WHERE used_ms < ?1 ORDER BY used_ms LIMIT ?2)
