-- behind_cursor_claimed: a message at or below the cursor of its lane is in an active claim.
WITH flying (kind, lane, seq) AS MATERIALIZED (SELECT kind, lane, seq FROM pawl_claim_item WHERE source = 1)
SELECT 'seq ' || m.seq || ' (kind ' || m.kind || ', lane ' || m.lane || ') was read and is not claimed' AS detail
  FROM pawl_lane
  JOIN pawl_message AS m ON m.kind = pawl_lane.kind AND m.lane = pawl_lane.lane AND m.seq <= pawl_lane.high
 WHERE NOT EXISTS (SELECT 1 FROM flying WHERE flying.kind = m.kind AND flying.lane = m.lane AND flying.seq = m.seq)
