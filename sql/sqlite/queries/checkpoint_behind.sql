-- checkpoint_behind: the checkpoints of streams that are behind, of perspectives that are fed.
-- params: streams as a JSON array
SELECT c.stream, c.perspective, c.error, c.fingerprint, c.version, coalesce(s.version, 0), c.token, c.status, c.stopped, c.attempts,
       c.instance, c.lease_until_ms, c.due_ms, c.created_ms, c.updated_ms, c.replay_to, c.failed_version
  FROM (SELECT DISTINCT value AS stream FROM json_each(?1)) w
  JOIN pawl_stream s ON s.stream = w.stream JOIN pawl_checkpoint c ON c.stream = w.stream JOIN pawl_perspective p ON p.key = c.perspective
 WHERE p.state IN (1, 2) AND c.version < s.version ORDER BY c.stream, c.perspective
