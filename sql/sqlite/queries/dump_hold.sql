-- dump_hold: holds for the state dump: by their first aside row, then those without one by name.
SELECT kind, key, lane, state, due_ms, (SELECT id FROM dead WHERE dead.kind = hold.kind AND dead.seq = hold.by_seq)
  FROM hold
 ORDER BY kind, (SELECT min(seq) FROM aside WHERE aside.kind = hold.kind AND aside.key = hold.key) NULLS LAST, key
