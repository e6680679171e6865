-- aside_due: held streams of a lane that are due, first come first.
-- params: kind, lane, now_ms
SELECT key, (SELECT min(seq) FROM aside WHERE aside.kind = ?1 AND aside.key = hold.key)
  FROM hold WHERE kind = ?1 AND lane = ?2 AND state = 1 AND due_ms <= ?3
 ORDER BY due_ms, 2
