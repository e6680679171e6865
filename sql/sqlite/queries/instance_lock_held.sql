-- instance_lock_held: it holds its liveness lock.
-- params: id
UPDATE pawl_instance SET lock_no = 1, absent_since_ms = NULL WHERE id = ?1
