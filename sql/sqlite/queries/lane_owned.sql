-- lane_owned: whether a lane belongs to an instance.
-- params: kind, lane, owner
-- returns: 1 when it does
SELECT 1 FROM pawl_lane WHERE kind = ?1 AND lane = ?2 AND owner = ?3
