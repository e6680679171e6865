-- aside_due: held streams of a lane that are due, first come first.
-- params: kind, lane, now_ms
SELECT key, (SELECT min(seq) FROM pawl_aside WHERE pawl_aside.kind = ?1 AND pawl_aside.key = pawl_hold.key)
  FROM pawl_hold WHERE kind = ?1 AND lane = ?2 AND state = 1 AND due_ms <= ?3
 ORDER BY due_ms, 2
