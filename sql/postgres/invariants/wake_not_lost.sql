-- wake_not_lost: a completed checkpoint that is behind its stream has a message that says so.
SELECT pg_catalog.format('%s of %s is completed at %s, the stream is at %s, and nothing says so', c.perspective, c.stream, c.version, s.version)
  FROM pawl.checkpoint c JOIN pawl.stream s ON s.stream = c.stream
  JOIN pawl.perspective p ON p.key = c.perspective AND p.state IN (1, 2)
 WHERE c.status = 2 AND c.version < s.version
   AND NOT EXISTS (SELECT 1 FROM pawl.message m WHERE m.kind = 3 AND m.stream = c.stream)
   AND NOT EXISTS (SELECT 1 FROM pawl.aside a WHERE a.kind = 3 AND a.stream = c.stream)
   AND NOT EXISTS (SELECT 1 FROM pawl.dead d WHERE d.kind = 3 AND d.stream = c.stream)
