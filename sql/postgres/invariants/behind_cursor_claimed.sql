-- behind_cursor_claimed: a message at or below its lane's lowest cut is an item of an active claim.
-- Between the lowest cut and the cursor a late commit is legal until the next claim reads it.
SELECT pg_catalog.format('kind %s lane %s seq %s is behind the cursor and in no claim', m.kind, m.lane, m.seq)
  FROM pawl.lane l
  JOIN pawl.message m ON m.kind = l.kind AND m.lane = l.lane
                     AND m.seq <= CASE WHEN l.seen_xmax IS NULL THEN 0 ELSE coalesce(l.cut_seqs[1], l.high) END
 WHERE NOT EXISTS (SELECT 1 FROM pawl.claim c WHERE c.kind = m.kind AND c.lane = m.lane AND c.state = 1 AND m.seq = ANY (c.seqs))
