-- perspective_tally_matches: the counts of a perspective are those of its checkpoints and of the events that they are past.
SELECT t.key || ' counts ' || t.checkpoints || ' checkpoints and ' || t.applied || ' events, there are ' || coalesce(c.n, 0) || ' and ' ||
       coalesce(c.a, 0) AS detail
  FROM pawl_perspective_tally t
  LEFT JOIN (SELECT perspective, count(*) AS n, sum(status = 0) AS p, sum(status = 1) AS r, sum(status = 2) AS d, sum(status = 3) AS f,
                    sum(stopped) AS s,
                    sum((SELECT count(*) FROM pawl_event e JOIN pawl_mapping m ON m.type = e.type AND m.key = pawl_checkpoint.perspective
                          WHERE e.stream = pawl_checkpoint.stream AND e.version <= pawl_checkpoint.version)) AS a
               FROM pawl_checkpoint GROUP BY perspective) c ON c.perspective = t.key
 WHERE t.checkpoints <> coalesce(c.n, 0) OR t.pending <> coalesce(c.p, 0) OR t.processing <> coalesce(c.r, 0)
    OR t.completed <> coalesce(c.d, 0) OR t.failed <> coalesce(c.f, 0) OR t.stopped <> coalesce(c.s, 0)
    OR (t.applied <> coalesce(c.a, 0) AND EXISTS (SELECT 1 FROM pawl_perspective k WHERE k.key = t.key AND k.state IN (1, 2)))
