-- view_checkpoint: see functions/view_checkpoint.sql
SELECT c.stream, c.perspective, c.error, c.version, c.token, c.updated_ms, c.status, c.attempts
  FROM pawl.view_checkpoint($1, $2) c
