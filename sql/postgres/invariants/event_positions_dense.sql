-- event_positions_dense: positions are 1 to the last one given, without a gap.
SELECT pg_catalog.format('position %s follows %s events up to %s', p.position, p.before, p.last)
  FROM (SELECT q.position, s.position AS last, q.count,
               coalesce(pg_catalog.sum(q.count) OVER (ORDER BY q.position ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before,
               q.position = max(q.position) OVER () AS newest
          FROM pawl.position q CROSS JOIN pawl.stamper s) p
 WHERE p.position <> p.before + 1 OR (p.newest AND p.last <> p.before + p.count)
