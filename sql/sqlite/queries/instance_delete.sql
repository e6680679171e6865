-- instance_delete: the row goes, the tombstone stays.
-- params: id
DELETE FROM instance WHERE id = ?1
