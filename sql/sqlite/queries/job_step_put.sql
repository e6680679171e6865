-- job_step_put: records a step.
INSERT OR REPLACE INTO pawl_job_step (job, step, "index", state, attempt, started_ms, finished_ms, input_hash, output_hash, error, output)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
