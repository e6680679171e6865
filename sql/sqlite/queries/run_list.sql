-- run_list: executions by filter, newest first.
SELECT id, job, task, type, queue, attempt, instance, token, started_ms, finished_ms, outcome, output, error, steps, input_hash, output_hash, hash
  FROM task_run WHERE (?1 IS NULL OR task = ?1) AND (?2 = 0 OR job = ?2) AND (?3 = 0 OR outcome = ?3) AND finished_ms >= ?4 AND (?5 = 0 OR id < ?5)
 ORDER BY id DESC LIMIT ?6
