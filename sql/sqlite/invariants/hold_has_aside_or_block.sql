-- hold_has_aside_or_block: a waiting hold has something aside; a blocked or parked one has its dead letter.
SELECT 'hold of ' || key || ' (kind ' || kind || ', state ' || state || ') waits for nothing' AS detail
  FROM hold
 WHERE (state = 1 AND NOT EXISTS (SELECT 1 FROM aside WHERE aside.kind = hold.kind AND aside.key = hold.key))
    OR (state <> 1 AND NOT EXISTS (SELECT 1 FROM dead WHERE dead.kind = hold.kind AND dead.seq = hold.by_seq))
