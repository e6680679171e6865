-- list_aside: messages that are aside in order, whether they fit a filter, and whether they come first in a stream that waits.
-- params: kind, lane (-1: any), after_seq, below_seq, stream, type, topic
SELECT seq, lane, (?2 = -1 OR lane = ?2) AND (?5 IS NULL OR stream = ?5) AND (?6 IS NULL OR type = ?6) AND (?7 IS NULL OR topic = ?7),
       seq = (SELECT min(first.seq) FROM pawl_aside AS first WHERE first.kind = pawl_aside.kind AND first.key = pawl_aside.key)
       AND EXISTS (SELECT 1 FROM pawl_hold WHERE pawl_hold.kind = pawl_aside.kind AND pawl_hold.key = pawl_aside.key AND pawl_hold.state = 1)
  FROM pawl_aside WHERE kind = ?1 AND seq > ?3 AND seq < ?4
 ORDER BY seq
