-- instance_absent: since when its liveness lock is gone; NULL: it is there.
-- params: id, absent_since_ms
UPDATE pawl_instance SET absent_since_ms = ?2 WHERE id = ?1
