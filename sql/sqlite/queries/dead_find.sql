-- dead_find: what redrive and discard need to know of a dead letter.
-- params: kind, seq
SELECT lane, key, reason, stream IS NOT NULL FROM pawl_dead WHERE kind = ?1 AND seq = ?2
