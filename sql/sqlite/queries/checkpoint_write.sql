-- checkpoint_write: where a checkpoint stands now.
-- params: stream, perspective, version, token, status, attempts, error, fingerprint, stopped, instance, lease_until_ms, due_ms,
--   failed_version, replay_to, now_ms
UPDATE pawl_checkpoint
   SET version = ?3, token = ?4, status = ?5, attempts = ?6, error = ?7, fingerprint = ?8, stopped = ?9, instance = ?10,
       lease_until_ms = ?11, due_ms = ?12, failed_version = ?13, replay_to = ?14, updated_ms = ?15
 WHERE stream = ?1 AND perspective = ?2
