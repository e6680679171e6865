-- list_message: messages of a lane that fit a filter.
-- params: kind, lane, after_seq, below_seq, stream, type, topic
SELECT seq, lane FROM message
 WHERE kind = ?1 AND lane = ?2 AND seq > ?3 AND seq < ?4
   AND (?5 IS NULL OR stream = ?5) AND (?6 IS NULL OR type = ?6) AND (?7 IS NULL OR topic = ?7)
 ORDER BY seq
