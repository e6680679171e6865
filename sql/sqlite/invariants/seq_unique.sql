-- seq_unique: a seq is used by one kind only.
SELECT 'seq ' || seq || ' is used by ' || count(DISTINCT kind) || ' kinds' AS detail
  FROM (SELECT kind, seq FROM message
         UNION ALL SELECT kind, seq FROM aside
         UNION ALL SELECT kind, seq FROM dead
         UNION ALL SELECT kind, seq FROM history)
 GROUP BY seq HAVING count(DISTINCT kind) > 1
