-- list_message: messages of a lane in order, and whether they fit a filter.
-- params: kind, lane, after_seq, below_seq, stream, type, topic
SELECT seq, lane, (?5 IS NULL OR stream = ?5) AND (?6 IS NULL OR type = ?6) AND (?7 IS NULL OR topic = ?7)
  FROM pawl_message WHERE kind = ?1 AND lane = ?2 AND seq > ?3 AND seq < ?4
 ORDER BY seq
