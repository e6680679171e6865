-- lane_token: a grant is also written to its lane.
-- params: kind, lane, token
UPDATE pawl_lane SET token = ?3 WHERE kind = ?1 AND lane = ?2
