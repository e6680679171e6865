-- claim_lane_match: the row of every item of an active claim part has the lane of the part.
SELECT 'token ' || item.token || ' is of lane ' || item.lane || ', its seq ' || item.seq || ' of lane ' || a.lane AS detail
  FROM pawl_claim_item AS item
  JOIN pawl_aside AS a ON a.kind = item.kind AND a.seq = item.seq
 WHERE item.source = 2 AND a.lane <> item.lane
