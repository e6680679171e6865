-- lane_free_drained: draining lanes of an owner without an active claim become free.
-- params: kind, owner
UPDATE pawl_lane SET owner = NULL, draining = 0
 WHERE kind = ?1 AND owner = ?2 AND draining = 1 AND NOT EXISTS (SELECT 1 FROM pawl_claim WHERE pawl_claim.kind = pawl_lane.kind AND pawl_claim.lane = pawl_lane.lane AND pawl_claim.state = 1)
