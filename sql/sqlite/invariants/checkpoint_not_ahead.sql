-- checkpoint_not_ahead: no checkpoint is ahead of its stream's events.
SELECT c.perspective || ' of ' || c.stream || ' is at ' || c.version || ', the stream at ' || s.version AS detail
  FROM pawl_checkpoint c JOIN pawl_stream s ON s.stream = c.stream JOIN pawl_perspective p ON p.key = c.perspective WHERE c.version > s.version
