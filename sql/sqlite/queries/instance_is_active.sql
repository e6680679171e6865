-- instance_is_active: whether an instance may hold something.
-- params: id
SELECT 1 FROM pawl_instance WHERE id = ?1 AND state = 1
