-- aside_has_hold: every aside row has the hold of its key, in the same lane.
SELECT pg_catalog.format('kind %s seq %s is aside without a hold in lane %s', a.kind, a.seq, a.lane)
  FROM pawl.aside a
 WHERE NOT EXISTS (SELECT 1 FROM pawl.hold h WHERE h.kind = a.kind AND h.key = a.key AND h.lane = a.lane)
