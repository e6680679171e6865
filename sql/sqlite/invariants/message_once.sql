-- message_once: a message is in at most one of message, aside, dead and history.
SELECT 'kind ' || kind || ' seq ' || seq || ' is in ' || count(*) || ' tables' AS detail
  FROM (SELECT kind, seq FROM pawl_message
         UNION ALL SELECT kind, seq FROM pawl_aside
         UNION ALL SELECT kind, seq FROM pawl_dead
         UNION ALL SELECT kind, seq FROM pawl_history)
 GROUP BY kind, seq HAVING count(*) > 1
