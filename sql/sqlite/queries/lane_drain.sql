-- lane_drain: the highest lanes of an owner start draining.
-- params: kind, owner, count
UPDATE pawl_lane SET draining = 1
 WHERE kind = ?1 AND lane IN (SELECT lane FROM pawl_lane WHERE kind = ?1 AND owner = ?2 AND draining = 0
                               ORDER BY lane DESC LIMIT ?3)
