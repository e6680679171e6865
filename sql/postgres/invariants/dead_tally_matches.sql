-- dead_tally_matches: the numbers of dead letters per cause are those of the rows; kind 4: jobs.
SELECT pg_catalog.format('kind %s, %s: counts %s, there are %s', coalesce(t.kind, r.kind), coalesce(t.fingerprint, r.fingerprint),
                         coalesce(t.n, 0), coalesce(r.n, 0))
  FROM (SELECT y.kind, y.fingerprint, sum(y.letters) AS n FROM pawl.dead_tally y GROUP BY y.kind, y.fingerprint) t
  FULL JOIN (SELECT d.kind, d.fingerprint, count(*) AS n FROM pawl.dead d WHERE d.fingerprint IS NOT NULL GROUP BY d.kind, d.fingerprint
             UNION ALL
             SELECT 4, a.fingerprint, count(*) FROM pawl.job_aside a WHERE a.state = 5 GROUP BY a.fingerprint) r
    ON r.kind = t.kind AND r.fingerprint = t.fingerprint
 WHERE coalesce(t.n, 0) <> coalesce(r.n, 0)
