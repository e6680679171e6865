-- view_ids: ids of messages in a range, wherever they are.
-- params: lowest id, highest id, limit
-- returns: id, each once, ascending
-- Waiting messages are indexed lane by lane: the next id is the least of the lanes' next ones.
WITH RECURSIVE waiting (id) AS (
    SELECT min((SELECT m.id FROM pawl_message m WHERE m.lane = l.lane AND m.id >= ?1 AND m.id <= ?2 ORDER BY m.id LIMIT 1))
      FROM pawl_lane l WHERE l.kind = 1
     UNION ALL
    SELECT (SELECT min((SELECT m.id FROM pawl_message m
                         WHERE m.lane = l.lane AND m.id > w.id AND m.id <= ?2 ORDER BY m.id LIMIT 1))
              FROM pawl_lane l WHERE l.kind = 1)
      FROM waiting w WHERE w.id IS NOT NULL LIMIT ?3)
SELECT id FROM waiting WHERE id IS NOT NULL
 UNION SELECT id FROM (SELECT DISTINCT id FROM pawl_aside WHERE id >= ?1 AND id <= ?2 ORDER BY id LIMIT ?3)
 UNION SELECT id FROM (SELECT DISTINCT id FROM pawl_dead WHERE id >= ?1 AND id <= ?2 ORDER BY id LIMIT ?3)
 UNION SELECT id FROM (SELECT DISTINCT id FROM pawl_history WHERE id >= ?1 AND id <= ?2 ORDER BY id LIMIT ?3)
 ORDER BY 1 LIMIT ?3
