-- checkpoint_leave: what an instance held is free.
-- params: instance, now_ms
UPDATE pawl_checkpoint SET status = 0, instance = NULL, lease_until_ms = 0, due_ms = ?2, updated_ms = ?2 WHERE instance = ?1
