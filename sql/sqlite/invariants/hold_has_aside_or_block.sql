-- hold_has_aside_or_block: a waiting hold has something aside; a blocked or parked one has its dead letter.
SELECT 'hold of ' || key || ' (kind ' || kind || ', state ' || state || ') waits for nothing' AS detail
  FROM pawl_hold
 WHERE (state = 1 AND NOT EXISTS (SELECT 1 FROM pawl_aside WHERE pawl_aside.kind = pawl_hold.kind AND pawl_aside.key = pawl_hold.key))
    OR (state <> 1 AND NOT EXISTS (SELECT 1 FROM pawl_dead WHERE pawl_dead.kind = pawl_hold.kind AND pawl_dead.seq = pawl_hold.by_seq))
