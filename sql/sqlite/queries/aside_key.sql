-- aside_key: the stream key of a message that is aside.
-- params: kind, seq
SELECT key FROM pawl_aside WHERE kind = ?1 AND seq = ?2
