-- dump_dead: section 9 of the state dump.
SELECT d.kind::integer, d.lane, d.id, d.stream, d.attempts, d.deaths, d.reason::integer, d.error, d.died_ms
  FROM pawl.dead d ORDER BY d.kind, d.lane, d.seq
