-- lane_count_owned: how many lanes an instance owns, draining ones included.
-- params: kind, owner
SELECT count(*) FROM pawl_lane WHERE kind = ?1 AND owner = ?2
