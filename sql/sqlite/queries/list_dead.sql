-- list_dead: dead letters that fit a filter.
-- params: kind, lane (-1: any), after_seq, below_seq, stream, type, topic, fingerprint, before_ms (0: any)
SELECT seq, lane FROM dead
 WHERE kind = ?1 AND (?2 = -1 OR lane = ?2) AND seq > ?3 AND seq < ?4
   AND (?5 IS NULL OR stream = ?5) AND (?6 IS NULL OR type = ?6) AND (?7 IS NULL OR topic = ?7)
   AND (?8 IS NULL OR fingerprint = ?8) AND (?9 = 0 OR died_ms < ?9)
 ORDER BY seq
