-- claim_item_exists: every item of an active claim part has its row in the table of its source.
SELECT 'token ' || token || ' holds seq ' || seq || ' of kind ' || kind || ', which has no row' AS detail
  FROM pawl_claim_item AS item
 WHERE NOT EXISTS (SELECT 1 FROM pawl_message AS m
                    WHERE item.source = 1 AND m.kind = item.kind AND m.lane = item.lane AND m.seq = item.seq)
   AND NOT EXISTS (SELECT 1 FROM pawl_aside AS a WHERE item.source = 2 AND a.kind = item.kind AND a.seq = item.seq)
