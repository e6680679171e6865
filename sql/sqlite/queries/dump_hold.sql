-- dump_hold: holds for the state dump: by their first aside row, then those without one by name.
SELECT kind, key, lane, state, due_ms, (SELECT id FROM pawl_dead WHERE pawl_dead.kind = pawl_hold.kind AND pawl_dead.seq = pawl_hold.by_seq)
  FROM pawl_hold
 ORDER BY kind, (SELECT min(seq) FROM pawl_aside WHERE pawl_aside.kind = pawl_hold.kind AND pawl_aside.key = pawl_hold.key) NULLS LAST, key
