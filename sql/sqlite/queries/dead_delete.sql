-- dead_delete: a dead letter goes.
-- params: kind, seq
DELETE FROM dead WHERE kind = ?1 AND seq = ?2
