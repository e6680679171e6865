-- checkpoint_reset_failed: failed checkpoints are tried again.
-- params: key, streams as a JSON array or NULL, now_ms
UPDATE pawl_checkpoint
   SET status = 0, due_ms = ?3, stopped = 0, attempts = 0, error = NULL, fingerprint = NULL, failed_version = 0, updated_ms = ?3
 WHERE perspective = ?1 AND status = 3 AND (?2 IS NULL OR stream IN (SELECT value FROM json_each(?2)))
