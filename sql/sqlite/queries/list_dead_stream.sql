-- list_dead_stream: dead letters of one stream in order, and whether they fit a filter.
-- params: kind, lane (-1: any), after_seq, below_seq, stream, type, topic, before_ms (0: any)
SELECT seq, lane, (?2 = -1 OR lane = ?2) AND stream = ?5 AND (?6 IS NULL OR type = ?6) AND (?7 IS NULL OR topic = ?7)
                  AND (?8 = 0 OR died_ms < ?8)
  FROM pawl_dead INDEXED BY pawl_dead_key WHERE kind = ?1 AND key = ?5 AND seq > ?3 AND seq < ?4
 ORDER BY seq
