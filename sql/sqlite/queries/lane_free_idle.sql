-- lane_free_idle: the highest lanes of an owner without an active claim become free.
-- params: kind, owner, count
UPDATE pawl_lane SET owner = NULL
 WHERE kind = ?1 AND lane IN (SELECT lane FROM pawl_lane
                               WHERE kind = ?1 AND owner = ?2 AND draining = 0 AND NOT EXISTS (SELECT 1 FROM pawl_claim WHERE pawl_claim.kind = pawl_lane.kind AND pawl_claim.lane = pawl_lane.lane AND pawl_claim.state = 1)
                               ORDER BY lane DESC LIMIT ?3)
