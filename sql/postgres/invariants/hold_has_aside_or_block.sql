-- hold_has_aside_or_block: a waiting hold has an aside row of its key; a blocked or parked one has its dead letter.
SELECT pg_catalog.format('hold of kind %s stream %s, state %s, holds nothing', h.kind, h.key, h.state)
  FROM pawl.hold h
 WHERE NOT CASE h.state WHEN 1 THEN EXISTS (SELECT 1 FROM pawl.aside a WHERE a.kind = h.kind AND a.key = h.key)
                        ELSE EXISTS (SELECT 1 FROM pawl.dead d WHERE d.kind = h.kind AND d.seq = h.by_seq) END
