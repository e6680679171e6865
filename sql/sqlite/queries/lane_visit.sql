-- lane_visit: the next lanes to claim from, the one claimed longest ago first, and what may be found there.
-- params: kind, owner, after_token, until_token, now_ms, limit
-- returns: lane, token, high, has_message, has_due_hold, oldest_began_ms (NULL: no active claim)
SELECT lane, token, high,
       EXISTS (SELECT 1 FROM pawl_message WHERE pawl_message.kind = ?1 AND pawl_message.lane = pawl_lane.lane AND pawl_message.seq > pawl_lane.high),
       EXISTS (SELECT 1 FROM pawl_hold WHERE pawl_hold.kind = ?1 AND pawl_hold.lane = pawl_lane.lane AND pawl_hold.state = 1 AND pawl_hold.due_ms <= ?5),
       (SELECT min(began_ms) FROM pawl_claim WHERE pawl_claim.kind = ?1 AND pawl_claim.lane = pawl_lane.lane AND pawl_claim.state = 1)
  FROM pawl_lane
 WHERE kind = ?1 AND owner = ?2 AND token > ?3 AND token <= ?4 AND draining = 0
 ORDER BY token LIMIT ?6
