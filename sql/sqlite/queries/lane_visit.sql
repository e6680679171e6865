-- lane_visit: the next lanes to claim from, the one claimed longest ago first, and what may be found there.
-- params: kind, owner, after_token, until_token, now_ms, limit
-- returns: lane, token, high, has_message, has_due_hold, oldest_began_ms (NULL: no active claim)
SELECT lane, token, high,
       EXISTS (SELECT 1 FROM message WHERE message.kind = ?1 AND message.lane = lane.lane AND message.seq > lane.high),
       EXISTS (SELECT 1 FROM hold WHERE hold.kind = ?1 AND hold.lane = lane.lane AND hold.state = 1 AND hold.due_ms <= ?5),
       (SELECT min(began_ms) FROM claim WHERE claim.kind = ?1 AND claim.lane = lane.lane AND claim.state = 1)
  FROM lane
 WHERE kind = ?1 AND owner = ?2 AND token > ?3 AND token <= ?4 AND draining = 0
 ORDER BY token LIMIT ?6
