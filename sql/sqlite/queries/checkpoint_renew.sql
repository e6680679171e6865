-- checkpoint_renew: a granted checkpoint has a new lease.
-- params: stream, perspective, token, until_ms, instance
UPDATE pawl_checkpoint SET lease_until_ms = ?4, due_ms = ?4
 WHERE stream = ?1 AND perspective = ?2 AND token = ?3 AND status = 1 AND instance = ?5
