-- run_insert: one execution.
INSERT INTO pawl_task_run (id, job, task, type, queue, attempt, instance, token, started_ms, finished_ms, outcome, output, error, steps, input_hash, output_hash, hash, expires_ms, block, place)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)
