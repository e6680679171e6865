-- stream_in_one_token: the items of a stream that are in active claims are all under one token.
SELECT pg_catalog.format('stream %s of kind %s is in flight under %s tokens', f.stream, f.kind, count(DISTINCT f.token))
  FROM (SELECT i.kind, i.lane, i.token, i.seq, v.stream
  FROM (SELECT c.kind, c.lane, c.token, c.part, c.source, c.suspect, c.instance, s.seq
  FROM pawl.claim c CROSS JOIN LATERAL pg_catalog.unnest(c.seqs) AS s(seq) WHERE c.state = 1) i
  JOIN (SELECT m.kind, m.seq, m.stream FROM pawl.message m UNION ALL SELECT a.kind, a.seq, a.stream FROM pawl.aside a) v
    ON v.kind = i.kind AND v.seq = i.seq
 WHERE v.stream IS NOT NULL) f
 GROUP BY f.kind, f.stream HAVING count(DISTINCT f.token) > 1
