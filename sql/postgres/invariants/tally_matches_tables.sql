-- tally_matches_tables: the gauges of the tally are the numbers of rows, and put - done - aside - dead - discarded = rows of message.
SELECT pg_catalog.format('kind %s: aside %s / %s rows, dead %s / %s, waiting %s / %s', k.kind, t.aside, r.aside, t.dead, r.dead,
                         t.waiting, r.waiting)
  FROM pg_catalog.generate_series(1, 3) AS k(kind)
 CROSS JOIN LATERAL (SELECT coalesce(sum(y.aside), 0) AS aside, coalesce(sum(y.dead), 0) AS dead,
                            coalesce(sum(y.put), 0) - coalesce(sum(y.done), 0) - coalesce(sum(y.aside), 0)
                            - coalesce(sum(y.dead), 0) - coalesce(sum(y.discarded), 0) AS waiting
                       FROM pawl.tally y WHERE y.kind = k.kind) t
 CROSS JOIN LATERAL (SELECT (SELECT count(*) FROM pawl.aside a WHERE a.kind = k.kind) AS aside,
                            (SELECT count(*) FROM pawl.dead d WHERE d.kind = k.kind) AS dead,
                            (SELECT count(*) FROM pawl.message m WHERE m.kind = k.kind) AS waiting) r
 WHERE t.aside <> r.aside OR t.dead <> r.dead OR t.waiting <> r.waiting
