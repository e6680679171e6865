-- view_ids: ids of messages in a range, wherever they are.
-- params: lowest id, highest id, limit
-- returns: id, each once, ascending
SELECT id FROM (SELECT DISTINCT id FROM message WHERE id >= ?1 AND id <= ?2 ORDER BY id LIMIT ?3)
 UNION SELECT id FROM (SELECT DISTINCT id FROM aside WHERE id >= ?1 AND id <= ?2 ORDER BY id LIMIT ?3)
 UNION SELECT id FROM (SELECT DISTINCT id FROM dead WHERE id >= ?1 AND id <= ?2 ORDER BY id LIMIT ?3)
 UNION SELECT id FROM (SELECT DISTINCT id FROM history WHERE id >= ?1 AND id <= ?2 ORDER BY id LIMIT ?3)
 ORDER BY 1 LIMIT ?3
