-- checkpoint_recover: what evicted instances held is free.
-- params: now_ms
UPDATE pawl_checkpoint SET status = 0, instance = NULL, lease_until_ms = 0, due_ms = ?1, updated_ms = ?1
 WHERE instance IN (SELECT id FROM pawl_instance WHERE state = 2)
