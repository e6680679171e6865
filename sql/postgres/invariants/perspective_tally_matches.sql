-- perspective_tally_matches: the counts of a perspective are those of its checkpoints and of the events that they are past.
SELECT pg_catalog.format('%s: %s, %s', coalesce(t.key, c.perspective), t, c)
  FROM (SELECT y.key, sum(y.checkpoints) AS n, sum(y.pending) AS p, sum(y.processing) AS r, sum(y.completed) AS d, sum(y.failed) AS f,
               sum(y.stopped) AS s, sum(y.applied) AS a FROM pawl.perspective_tally y GROUP BY y.key) t
  FULL JOIN (SELECT x.perspective, count(*) AS n, count(*) FILTER (WHERE x.status = 0) AS p, count(*) FILTER (WHERE x.status = 1) AS r,
                    count(*) FILTER (WHERE x.status = 2) AS d, count(*) FILTER (WHERE x.status = 3) AS f,
                    count(*) FILTER (WHERE x.stopped) AS s,
                    sum((SELECT count(*) FROM pawl.event e WHERE e.stream = x.stream AND e.version <= x.version
                            AND EXISTS (SELECT 1 FROM pawl.mapping m WHERE m.type = e.type AND m.key = x.perspective))) AS a
               FROM pawl.checkpoint x GROUP BY x.perspective) c ON c.perspective = t.key
 WHERE (coalesce(t.n, 0), coalesce(t.p, 0), coalesce(t.r, 0), coalesce(t.d, 0), coalesce(t.f, 0), coalesce(t.s, 0))
    IS DISTINCT FROM (coalesce(c.n, 0), coalesce(c.p, 0), coalesce(c.r, 0), coalesce(c.d, 0), coalesce(c.f, 0), coalesce(c.s, 0))
    OR (coalesce(t.a, 0) <> coalesce(c.a, 0)
        AND EXISTS (SELECT 1 FROM pawl.perspective k WHERE k.key = coalesce(t.key, c.perspective) AND k.state IN (1, 2)))
