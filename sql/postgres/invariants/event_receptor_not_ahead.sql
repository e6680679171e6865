-- event_receptor_not_ahead: no receptor on events is ahead of the last position.
SELECT pg_catalog.format('%s is at %s of %s', r.name, r.position, s.position)
  FROM pawl.event_receptor r CROSS JOIN pawl.stamper s WHERE r.position > s.position
