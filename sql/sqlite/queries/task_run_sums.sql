-- task_run_sums: sums over the executions that finished since a moment; ids grow with time, so older ones are not read.
-- params: since_ms, instance (NULL: of any)
SELECT count(*), coalesce(sum(outcome = 1), 0), coalesce(sum(finished_ms - started_ms), 0), count(DISTINCT instance)
  FROM pawl_task_run
 WHERE id > coalesce((SELECT o.id FROM pawl_task_run o WHERE o.finished_ms < ?1 ORDER BY o.id DESC LIMIT 1), 0)
   AND (?2 IS NULL OR instance = ?2)
