-- in_flight_prefix: no unclaimed message at or below the lane's lowest cut stands before an item in flight of its stream.
-- A transaction that drew its number early may commit late: only what no cut can find any more is a violation.
SELECT pg_catalog.format('kind %s seq %s waits while seq %s of stream %s is in flight', m.kind, m.seq, f.seq, f.stream)
  FROM (SELECT i.kind, i.lane, i.token, i.seq, v.stream
  FROM (SELECT c.kind, c.lane, c.token, c.part, c.source, c.suspect, c.instance, s.seq
  FROM pawl.claim c CROSS JOIN LATERAL pg_catalog.unnest(c.seqs) AS s(seq) WHERE c.state = 1) i
  JOIN (SELECT m.kind, m.seq, m.stream FROM pawl.message m UNION ALL SELECT a.kind, a.seq, a.stream FROM pawl.aside a) v
    ON v.kind = i.kind AND v.seq = i.seq
 WHERE v.stream IS NOT NULL) f
  JOIN pawl.lane l ON l.kind = f.kind AND l.lane = f.lane
  JOIN pawl.message m ON m.kind = f.kind AND m.lane = f.lane AND m.stream = f.stream AND m.seq < f.seq
                     AND m.seq <= CASE WHEN l.seen_xmax IS NULL THEN 0 ELSE coalesce(l.cut_seqs[1], l.high) END
 WHERE NOT EXISTS (SELECT 1 FROM pawl.claim c WHERE c.kind = m.kind AND c.lane = m.lane AND c.state = 1 AND m.seq = ANY (c.seqs))
