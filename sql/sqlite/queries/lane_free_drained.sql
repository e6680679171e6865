-- lane_free_drained: draining lanes of an owner without an active claim become free.
-- params: kind, owner
UPDATE lane SET owner = NULL, draining = 0
 WHERE kind = ?1 AND owner = ?2 AND draining = 1 AND NOT EXISTS (SELECT 1 FROM claim WHERE claim.kind = lane.kind AND claim.lane = lane.lane AND claim.state = 1)
