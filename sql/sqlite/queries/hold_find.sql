-- hold_find: whether a stream is held, and how.
-- params: kind, key
SELECT state, by_seq FROM pawl_hold WHERE kind = ?1 AND key = ?2
