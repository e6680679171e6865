-- view_lanes: every lane of a kind.
-- params: kind
SELECT lane, owner, token, high, moves, draining,
       (SELECT count(*) FROM pawl_claim WHERE pawl_claim.kind = ?1 AND pawl_claim.lane = pawl_lane.lane AND pawl_claim.state = 1),
       (SELECT count(*) FROM pawl_hold WHERE pawl_hold.kind = ?1 AND pawl_hold.lane = pawl_lane.lane)
  FROM pawl_lane WHERE kind = ?1 ORDER BY lane
