-- lane_count_complete: every kind has exactly the lanes 0 to lane_count - 1.
SELECT 'kind ' || work.column1 || ' has ' || (SELECT count(*) FROM lane WHERE lane.kind = work.column1) || ' lanes' AS detail
  FROM (VALUES (1), (2), (3)) AS work, settings
 WHERE (SELECT count(*) FROM lane WHERE lane.kind = work.column1 AND lane.lane BETWEEN 0 AND lane_count - 1) <> lane_count
    OR (SELECT count(*) FROM lane WHERE lane.kind = work.column1) <> lane_count
