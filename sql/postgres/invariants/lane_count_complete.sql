-- lane_count_complete: every kind has exactly the lanes 0 … lane_count - 1.
SELECT pg_catalog.format('kind %s has %s lanes from %s to %s instead of %s', k.kind, count(l.lane), min(l.lane), max(l.lane), s.lane_count)
  FROM pg_catalog.generate_series(1, 3) AS k(kind) CROSS JOIN pawl.settings s LEFT JOIN pawl.lane l ON l.kind = k.kind
 GROUP BY k.kind, s.lane_count
HAVING count(l.lane) <> s.lane_count OR min(l.lane) <> 0 OR max(l.lane) <> s.lane_count - 1
