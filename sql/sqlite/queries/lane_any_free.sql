-- lane_any_free: whether a lane of one of the kinds has no owner.
-- params: kinds (bits)
SELECT 1
  FROM (VALUES (1), (2), (3)) AS work
 WHERE ?1 & (1 << work.column1) <> 0
   AND EXISTS (SELECT 1 FROM lane WHERE lane.kind = work.column1 AND lane.owner IS NULL)
 LIMIT 1
