-- seq_unique: a seq is used by one kind only.
SELECT pg_catalog.format('seq %s is used by %s kinds', p.seq, count(DISTINCT p.kind))
  FROM (SELECT m.kind, m.seq FROM pawl.message m
         UNION ALL SELECT a.kind, a.seq FROM pawl.aside a
         UNION ALL SELECT d.kind, d.seq FROM pawl.dead d
         UNION ALL SELECT h.kind, h.seq FROM pawl.history h) p
 GROUP BY p.seq HAVING count(DISTINCT p.kind) > 1
