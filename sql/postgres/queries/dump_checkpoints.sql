-- dump_checkpoints: section 12 of the state dump.
SELECT c.stream, c.perspective, c.version, c.status::integer, c.attempts, c.error
  FROM pawl.checkpoint c ORDER BY c.stream, c.perspective
