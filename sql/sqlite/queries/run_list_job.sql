-- run_list_job: the executions of a job before an id, newest first, and whether each fits.
-- params: before, outcome (0: any), since_ms, job, task (NULL: any)
SELECT id, job, task, type, queue, attempt, instance, token, started_ms, finished_ms, outcome, output, error, steps, input_hash, output_hash, hash,
       (?2 = 0 OR outcome = ?2) AND finished_ms >= ?3
  FROM pawl_task_run WHERE job = ?4 AND (?5 IS NULL OR task = ?5) AND id < ?1 ORDER BY id DESC
