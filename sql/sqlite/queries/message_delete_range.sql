-- message_delete_range: the messages of one claim go; between its first and its last there are no others.
-- params: kind, lane, first_seq, last_seq
DELETE FROM pawl_message WHERE kind = ?1 AND lane = ?2 AND seq BETWEEN ?3 AND ?4
