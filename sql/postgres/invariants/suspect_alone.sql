-- suspect_alone: a suspect claim lists one item, from aside, after a loss; an instance has at most one.
SELECT pg_catalog.format('suspect token %s lists %s items, %s of them aside after a loss', c.token, pg_catalog.cardinality(c.seqs), x.fitting)
  FROM pawl.claim c
 CROSS JOIN LATERAL (SELECT count(*) AS fitting FROM pg_catalog.unnest(c.seqs) AS s(seq)
                       JOIN pawl.aside a ON a.kind = c.kind AND a.seq = s.seq AND a.losses >= 2) x
 WHERE c.state = 1 AND c.suspect > 0 AND (c.source <> 2 OR pg_catalog.cardinality(c.seqs) <> 1 OR x.fitting <> 1)
UNION ALL
SELECT pg_catalog.format('instance %s has %s suspect claims', c.instance, count(*))
  FROM pawl.claim c WHERE c.state = 1 AND c.suspect > 0 GROUP BY c.instance HAVING count(*) > 1
