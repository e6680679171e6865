-- aside_has_hold: every aside row has the hold of its key, in the same lane.
SELECT 'seq ' || seq || ' (kind ' || kind || ') is aside without a hold' AS detail
  FROM aside
 WHERE NOT EXISTS (SELECT 1 FROM hold
                    WHERE hold.kind = aside.kind AND hold.key = aside.key AND hold.lane = aside.lane)
