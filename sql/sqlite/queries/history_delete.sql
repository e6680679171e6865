-- history_delete: one completed message goes.
-- params: kind, seq
DELETE FROM pawl_history WHERE kind = ?1 AND seq = ?2
