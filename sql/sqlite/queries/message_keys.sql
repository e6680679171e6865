-- message_keys: the stream keys of a range of messages.
-- params: kind, lane, first_seq, last_seq
SELECT seq, coalesce(stream, char(1) || seq)
  FROM pawl_message WHERE kind = ?1 AND lane = ?2 AND seq BETWEEN ?3 AND ?4 ORDER BY seq
