-- instance_delete: the row goes, the tombstone stays.
-- params: id
DELETE FROM pawl_instance WHERE id = ?1
