-- wake_not_lost: a completed checkpoint that is behind its stream has a message that says so.
SELECT c.perspective || ' of ' || c.stream || ' is completed at ' || c.version || ', the stream is at ' || s.version ||
       ', and nothing says so' AS detail
  FROM pawl_checkpoint c JOIN pawl_stream s ON s.stream = c.stream JOIN pawl_perspective p ON p.key = c.perspective AND p.state IN (1, 2)
 WHERE c.status = 2 AND c.version < s.version
   AND NOT EXISTS (SELECT 1 FROM pawl_message m WHERE m.kind = 3 AND m.stream = c.stream)
   AND NOT EXISTS (SELECT 1 FROM pawl_aside a WHERE a.kind = 3 AND a.stream = c.stream)
   AND NOT EXISTS (SELECT 1 FROM pawl_dead d WHERE d.kind = 3 AND d.stream = c.stream)
