-- job_step_list: the steps of a job.
SELECT step, "index", state, attempt, started_ms, finished_ms, input_hash, output_hash, error, output
  FROM pawl_job_step WHERE job = ?1 ORDER BY step, "index"
