-- message_delete: one message goes.
-- params: kind, lane, seq
DELETE FROM pawl_message WHERE kind = ?1 AND lane = ?2 AND seq = ?3
