-- view_first_of_stream: the first unfinished message of a stream, of those before a seq.
-- params: kind, key, lane, seq
SELECT min(seq)
  FROM (SELECT min(seq) AS seq FROM aside WHERE kind = ?1 AND key = ?2
         UNION ALL
        SELECT * FROM (SELECT seq FROM message
                        WHERE kind = ?1 AND lane = ?3 AND seq < ?4 AND stream = ?2 ORDER BY seq LIMIT 1))
