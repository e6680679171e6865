-- checkpoint_reset_applied: how many events a rebuild takes back.
-- params: key, streams as a JSON array or NULL
SELECT count(*) FROM pawl_checkpoint c JOIN pawl_event e ON e.stream = c.stream AND e.version <= c.version
  JOIN pawl_mapping m ON m.type = e.type AND m.key = ?1
 WHERE c.perspective = ?1 AND (?2 IS NULL OR c.stream IN (SELECT value FROM json_each(?2)))
