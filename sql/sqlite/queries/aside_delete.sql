-- aside_delete: a message that was aside goes.
-- params: kind, seq
DELETE FROM pawl_aside WHERE kind = ?1 AND seq = ?2
