-- claim_lane_match: the row of every item of an active claim part has the kind and lane of the part.
SELECT pg_catalog.format('seq %s is in lane %s, its claim (token %s) in lane %s', i.seq, v.lane, i.token, i.lane)
  FROM (SELECT c.kind, c.lane, c.token, c.part, c.source, c.suspect, c.instance, s.seq
  FROM pawl.claim c CROSS JOIN LATERAL pg_catalog.unnest(c.seqs) AS s(seq) WHERE c.state = 1) i
  JOIN (SELECT m.kind, m.seq, m.lane FROM pawl.message m UNION ALL SELECT a.kind, a.seq, a.lane FROM pawl.aside a) v
    ON v.seq = i.seq
 WHERE v.lane <> i.lane OR v.kind <> i.kind
