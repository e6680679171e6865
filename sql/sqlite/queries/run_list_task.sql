-- run_list_task: the executions of a task before an id, newest first, and whether each fits.
-- params: before, outcome (0: any), since_ms, task
SELECT id, job, task, type, queue, attempt, instance, token, started_ms, finished_ms, outcome, output, error, steps, input_hash, output_hash, hash,
       (?2 = 0 OR outcome = ?2) AND finished_ms >= ?3
  FROM pawl_task_run WHERE task = ?4 AND id < ?1 ORDER BY id DESC
