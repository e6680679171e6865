-- instance_set_evicted: an instance that is taken for dead.
-- params: id, now_ms
UPDATE pawl_instance SET state = 2, evicted_ms = ?2 WHERE id = ?1
