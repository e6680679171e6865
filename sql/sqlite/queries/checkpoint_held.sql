-- checkpoint_held: what an instance holds that a batch granted.
-- params: instance, request
SELECT c.stream, c.perspective, c.error, c.fingerprint, c.version, coalesce(s.version, 0), c.token, c.status, c.stopped, c.attempts,
       c.instance, c.lease_until_ms, c.due_ms, c.created_ms, c.updated_ms, c.replay_to, c.failed_version
  FROM pawl_checkpoint c LEFT JOIN pawl_stream s ON s.stream = c.stream
 WHERE c.instance = ?1 AND c.request = ?2 AND c.status = 1 ORDER BY c.stream, c.perspective
