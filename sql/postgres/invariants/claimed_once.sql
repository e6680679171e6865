-- claimed_once: no (kind, seq) is an item of two active claim parts, or twice in one.
SELECT pg_catalog.format('kind %s seq %s is claimed %s times', i.kind, i.seq, count(*))
  FROM (SELECT c.kind, c.lane, c.token, c.part, c.source, c.suspect, c.instance, s.seq
  FROM pawl.claim c CROSS JOIN LATERAL pg_catalog.unnest(c.seqs) AS s(seq) WHERE c.state = 1) i
 GROUP BY i.kind, i.seq HAVING count(*) > 1
