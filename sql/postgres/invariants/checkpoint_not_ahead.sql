-- checkpoint_not_ahead: no checkpoint is ahead of its stream's events.
SELECT pg_catalog.format('%s of %s is at %s, the stream at %s', c.perspective, c.stream, c.version, s.version)
  FROM pawl.checkpoint c JOIN pawl.stream s ON s.stream = c.stream JOIN pawl.perspective p ON p.key = c.perspective
 WHERE c.version > s.version
