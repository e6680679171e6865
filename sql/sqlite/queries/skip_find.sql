-- skip_find: whether a perspective leaves an event out.
-- params: key, stream, version
SELECT 1 FROM pawl_skip WHERE key = ?1 AND stream = ?2 AND version = ?3
