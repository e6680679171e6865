-- checkpoints_list: see functions/checkpoints_list.sql
SELECT c.stream, c.perspective, c.error, c.fingerprint, c.version, c.head, c.token, c.status, c.stopped, c.attempts,
       c.instance, c.lease_until_ms, c.next_ms, c.created_ms, c.updated_ms, c.replay_to, c.failed_version
  FROM pawl.checkpoints_list($1, $2, $3, $4, $5, $6) c
