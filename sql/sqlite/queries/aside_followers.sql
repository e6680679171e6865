-- aside_followers: the messages of a stream that wait behind a seq.
-- params: kind, key, seq
SELECT seq FROM pawl_aside WHERE kind = ?1 AND key = ?2 AND seq > ?3 ORDER BY seq
