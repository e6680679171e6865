-- hold_any: whether a lane holds any stream.
-- params: kind, lane
SELECT 1 FROM pawl_hold WHERE kind = ?1 AND lane = ?2 LIMIT 1
