-- event_versions_dense: the events of a stream have the versions 1 to the stream's, without a gap.
SELECT 'stream ' || coalesce(s.stream, e.stream) || ' is at version ' || coalesce(s.version, 0) || ' and has ' || coalesce(e.count, 0) ||
       ' events' AS detail
  FROM (SELECT stream FROM pawl_stream UNION SELECT stream FROM pawl_event) n
  LEFT JOIN pawl_stream s ON s.stream = n.stream
  LEFT JOIN (SELECT stream, count(*) AS count, max(version) AS last, min(version) AS first FROM pawl_event GROUP BY stream) e
         ON e.stream = n.stream
 WHERE s.version IS NOT e.count OR s.version IS NOT e.last OR e.first IS NOT 1
