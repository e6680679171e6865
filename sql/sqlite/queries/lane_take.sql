-- lane_take: a free lane gets an owner.
-- params: kind, lane, owner, token
UPDATE pawl_lane SET owner = ?3, token = ?4, draining = 0, moves = moves + 1 WHERE kind = ?1 AND lane = ?2
