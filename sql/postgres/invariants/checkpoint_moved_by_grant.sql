-- checkpoint_moved_by_grant: a checkpoint that has moved, failed or been taken was granted, and is of a perspective and a stream that exist.
SELECT pg_catalog.format('%s of %s is at %s with status %s, token %s, instance %s', c.perspective, c.stream, c.version, c.status, c.token, c.instance)
  FROM pawl.checkpoint c
 WHERE ((c.version > 0 OR c.status <> 0) AND c.token = 0) OR (c.status = 1) <> (c.instance IS NOT NULL)
    OR NOT EXISTS (SELECT 1 FROM pawl.perspective p WHERE p.key = c.perspective)
    OR NOT EXISTS (SELECT 1 FROM pawl.stream s WHERE s.stream = c.stream)
