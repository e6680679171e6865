-- seq_unique: a seq is used by one kind only.
SELECT 'seq ' || seq || ' is used by ' || count(DISTINCT kind) || ' kinds' AS detail
  FROM (SELECT kind, seq FROM pawl_message
         UNION ALL SELECT kind, seq FROM pawl_aside
         UNION ALL SELECT kind, seq FROM pawl_dead
         UNION ALL SELECT kind, seq FROM pawl_history)
 GROUP BY seq HAVING count(DISTINCT kind) > 1
