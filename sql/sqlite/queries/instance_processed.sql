-- instance_processed: how much an instance has done so far.
-- params: id, processed
UPDATE pawl_instance SET processed = ?2 WHERE id = ?1
