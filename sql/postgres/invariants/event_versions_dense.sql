-- event_versions_dense: the events of a stream have the versions 1 to the stream's, without a gap.
SELECT pg_catalog.format('stream %s is at version %s and has %s events up to %s', coalesce(s.stream, e.stream), s.version, e.count, e.last)
  FROM pawl.stream s FULL JOIN (SELECT x.stream, count(*) AS count, max(x.version) AS last, min(x.version) AS first
                                  FROM pawl.event x GROUP BY x.stream) e ON e.stream = s.stream
 WHERE s.version IS DISTINCT FROM e.count OR s.version IS DISTINCT FROM e.last OR e.first IS DISTINCT FROM 1
