-- checkpoint_for_every_match: a stream with an event that a perspective gets has its checkpoint, once the backfill is over.
SELECT pg_catalog.format('%s gets %s and has no checkpoint for %s', m.key, e.type, e.stream)
  FROM pawl.event e JOIN pawl.mapping m ON m.type = e.type JOIN pawl.perspective p ON p.key = m.key
 WHERE p.state IN (1, 2) AND p.backfilled
   AND NOT EXISTS (SELECT 1 FROM pawl.checkpoint c WHERE c.stream = e.stream AND c.perspective = m.key)
