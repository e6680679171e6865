-- lane_free_idle: the highest lanes of an owner without an active claim become free.
-- params: kind, owner, count
UPDATE lane SET owner = NULL
 WHERE kind = ?1 AND lane IN (SELECT lane FROM lane
                               WHERE kind = ?1 AND owner = ?2 AND draining = 0 AND NOT EXISTS (SELECT 1 FROM claim WHERE claim.kind = lane.kind AND claim.lane = lane.lane AND claim.state = 1)
                               ORDER BY lane DESC LIMIT ?3)
