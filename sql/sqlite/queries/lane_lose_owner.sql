-- lane_lose_owner: a lane whose owner let a claim run out becomes free, unless it is the caller's.
-- params: kind, lane, caller
UPDATE pawl_lane SET owner = NULL, draining = 0 WHERE kind = ?1 AND lane = ?2 AND owner <> ?3
