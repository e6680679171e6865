-- dead_delete: a dead letter goes.
-- params: kind, seq
DELETE FROM pawl_dead WHERE kind = ?1 AND seq = ?2
