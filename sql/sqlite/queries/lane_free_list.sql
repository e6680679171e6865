-- lane_free_list: the lowest lanes without an owner.
-- params: kind, count
SELECT lane FROM pawl_lane WHERE kind = ?1 AND owner IS NULL ORDER BY lane LIMIT ?2
