-- message_once: a message is in at most one of message, aside, dead and history.
SELECT 'kind ' || kind || ' seq ' || seq || ' is in ' || count(*) || ' tables' AS detail
  FROM (SELECT kind, seq FROM message
         UNION ALL SELECT kind, seq FROM aside
         UNION ALL SELECT kind, seq FROM dead
         UNION ALL SELECT kind, seq FROM history)
 GROUP BY kind, seq HAVING count(*) > 1
