-- skip_any: whether a perspective leaves any event out.
-- params: key
SELECT 1 FROM pawl_skip WHERE key = ?1 LIMIT 1
