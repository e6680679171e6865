-- skip_any: whether a perspective leaves any event out.
-- params: key
SELECT 1 FROM skip WHERE key = ?1 LIMIT 1
