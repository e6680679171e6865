-- delete: one row by its key.
DELETE FROM pawl_message WHERE kind = ?1 AND lane = ?2 AND seq = ?3
