-- message_once: a (kind, seq) is in at most one of message, aside, dead and history.
SELECT pg_catalog.format('kind %s seq %s is in %s places', p.kind, p.seq, count(*))
  FROM (SELECT m.kind, m.seq FROM pawl.message m
         UNION ALL SELECT a.kind, a.seq FROM pawl.aside a
         UNION ALL SELECT d.kind, d.seq FROM pawl.dead d
         UNION ALL SELECT h.kind, h.seq FROM pawl.history h) p
 GROUP BY p.kind, p.seq HAVING count(*) > 1
