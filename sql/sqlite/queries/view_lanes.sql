-- view_lanes: every lane of a kind.
-- params: kind
SELECT lane, owner, token, high, moves, draining,
       (SELECT count(*) FROM claim WHERE claim.kind = ?1 AND claim.lane = lane.lane AND claim.state = 1),
       (SELECT count(*) FROM hold WHERE hold.kind = ?1 AND hold.lane = lane.lane)
  FROM lane WHERE kind = ?1 ORDER BY lane
