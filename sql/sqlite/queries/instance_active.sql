-- instance_active: every active instance, by id.
SELECT id FROM pawl_instance WHERE state = 1 ORDER BY id
