-- lane_count_complete: every kind has exactly the lanes 0 to lane_count - 1.
SELECT 'kind ' || work.column1 || ' has ' || (SELECT count(*) FROM pawl_lane WHERE pawl_lane.kind = work.column1) || ' lanes' AS detail
  FROM (VALUES (1), (2), (3)) AS work, pawl_settings
 WHERE (SELECT count(*) FROM pawl_lane WHERE pawl_lane.kind = work.column1 AND pawl_lane.lane BETWEEN 0 AND lane_count - 1) <> lane_count
    OR (SELECT count(*) FROM pawl_lane WHERE pawl_lane.kind = work.column1) <> lane_count
