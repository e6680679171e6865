-- instance_find: what operations need to know of an instance.
-- params: id
SELECT state, kinds, beat_ms, lease_ms, lease_until_ms, max_partitions, lock_no, slots FROM pawl_instance WHERE id = ?1
