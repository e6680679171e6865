-- lane_list_owned: the lanes an instance owns, draining ones included, ascending.
-- params: kind, owner
SELECT lane FROM pawl_lane WHERE kind = ?1 AND owner = ?2 ORDER BY lane
