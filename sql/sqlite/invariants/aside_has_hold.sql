-- aside_has_hold: every aside row has the hold of its key, in the same lane.
SELECT 'seq ' || seq || ' (kind ' || kind || ') is aside without a hold' AS detail
  FROM pawl_aside
 WHERE NOT EXISTS (SELECT 1 FROM pawl_hold
                    WHERE pawl_hold.kind = pawl_aside.kind AND pawl_hold.key = pawl_aside.key AND pawl_hold.lane = pawl_aside.lane)
