-- view_first_of_stream: the first unfinished message of a stream, of those before a seq.
-- params: kind, key, lane, seq
-- returns: seq (NULL: none), and whether more messages of the lane are before it than were looked at (PAWL_WHY_AHEAD)
SELECT min(seq),
       EXISTS (SELECT 1 FROM pawl_message WHERE kind = ?1 AND lane = ?3 AND seq < ?4 ORDER BY seq LIMIT 1 OFFSET 10000)
  FROM (SELECT min(seq) AS seq FROM pawl_aside WHERE kind = ?1 AND key = ?2
         UNION ALL
        SELECT * FROM (SELECT seq FROM (SELECT seq, stream FROM pawl_message
                                         WHERE kind = ?1 AND lane = ?3 AND seq < ?4 ORDER BY seq LIMIT 10000)
                        WHERE stream = ?2 LIMIT 1))
