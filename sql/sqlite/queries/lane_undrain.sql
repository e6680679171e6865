-- lane_undrain: the lowest draining lanes of an owner stop draining.
-- params: kind, owner, count
UPDATE pawl_lane SET draining = 0
 WHERE kind = ?1 AND lane IN (SELECT lane FROM pawl_lane WHERE kind = ?1 AND owner = ?2 AND draining = 1
                               ORDER BY lane LIMIT ?3)
