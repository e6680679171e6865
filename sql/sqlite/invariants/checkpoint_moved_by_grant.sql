-- checkpoint_moved_by_grant: a checkpoint that has moved, failed or been taken was granted, and is of a perspective and a stream that exist.
SELECT c.perspective || ' of ' || c.stream || ' is at ' || c.version || ' with status ' || c.status || ', token ' || c.token AS detail
  FROM pawl_checkpoint c
 WHERE ((c.version > 0 OR c.status <> 0) AND c.token = 0) OR (c.status = 1) <> (c.instance IS NOT NULL)
    OR NOT EXISTS (SELECT 1 FROM pawl_perspective p WHERE p.key = c.perspective)
    OR NOT EXISTS (SELECT 1 FROM pawl_stream s WHERE s.stream = c.stream)
