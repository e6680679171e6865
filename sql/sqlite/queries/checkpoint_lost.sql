-- checkpoint_lost: what an instance was granted under a token that it does not know is free.
-- params: instance, token, now_ms
UPDATE pawl_checkpoint SET status = 0, instance = NULL, lease_until_ms = 0, due_ms = ?3, updated_ms = ?3
 WHERE instance = ?1 AND token = ?2
