-- perspective_tally_matches: the counts of a perspective are those of its checkpoints.
SELECT t.key || ' counts ' || t.checkpoints || ' checkpoints, there are ' || coalesce(c.n, 0) AS detail
  FROM pawl_perspective_tally t
  LEFT JOIN (SELECT perspective, count(*) AS n, sum(status = 0) AS p, sum(status = 1) AS r, sum(status = 2) AS d, sum(status = 3) AS f,
                    sum(stopped) AS s FROM pawl_checkpoint GROUP BY perspective) c ON c.perspective = t.key
 WHERE t.checkpoints <> coalesce(c.n, 0) OR t.pending <> coalesce(c.p, 0) OR t.processing <> coalesce(c.r, 0)
    OR t.completed <> coalesce(c.d, 0) OR t.failed <> coalesce(c.f, 0) OR t.stopped <> coalesce(c.s, 0)
