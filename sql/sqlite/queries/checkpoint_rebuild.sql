-- checkpoint_rebuild: checkpoints begin again.
-- params: key, streams as a JSON array or NULL, now_ms, token
UPDATE pawl_checkpoint
   SET status = 0, version = 0, due_ms = ?3, stopped = 0, attempts = 0, error = NULL, fingerprint = NULL, failed_version = 0, token = ?4,
       instance = NULL, lease_until_ms = 0, updated_ms = ?3,
       replay_to = (SELECT s.version FROM pawl_stream s WHERE s.stream = pawl_checkpoint.stream)
 WHERE perspective = ?1 AND (?2 IS NULL OR stream IN (SELECT value FROM json_each(?2)))
   AND EXISTS (SELECT 1 FROM pawl_stream s WHERE s.stream = pawl_checkpoint.stream)
