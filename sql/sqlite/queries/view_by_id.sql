-- view_by_id: where every message with an id is.
-- params: id
-- returns: place (1 message, 2 aside, 3 dead, 4 history), kind, lane, seq
SELECT 1, m.kind, m.lane, m.seq FROM pawl_lane l CROSS JOIN pawl_message m ON m.lane = l.lane AND m.id = ?1 WHERE l.kind = 1
 UNION ALL SELECT 2, kind, lane, seq FROM pawl_aside WHERE id = ?1
 UNION ALL SELECT 3, kind, lane, seq FROM pawl_dead WHERE id = ?1
 UNION ALL SELECT 4, kind, lane, seq FROM pawl_history WHERE id = ?1
 ORDER BY 4
