-- aside_key: the stream key of a message that is aside.
-- params: kind, seq
SELECT key FROM aside WHERE kind = ?1 AND seq = ?2
