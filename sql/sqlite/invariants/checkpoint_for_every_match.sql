-- checkpoint_for_every_match: a stream with an event that a perspective gets has its checkpoint, once the backfill is over.
SELECT m.key || ' gets ' || e.type || ' and has no checkpoint for ' || e.stream AS detail
  FROM pawl_event e JOIN pawl_mapping m ON m.type = e.type JOIN pawl_perspective p ON p.key = m.key
 WHERE p.state IN (1, 2) AND p.backfilled
   AND NOT EXISTS (SELECT 1 FROM pawl_checkpoint c WHERE c.stream = e.stream AND c.perspective = m.key)
