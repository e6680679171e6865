-- lane_cursor: every message up to high was read.
-- params: kind, lane, high
UPDATE pawl_lane SET high = ?3 WHERE kind = ?1 AND lane = ?2
