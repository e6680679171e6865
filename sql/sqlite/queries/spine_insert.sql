-- spine_insert: what happened to a job.
INSERT INTO pawl_spine (job, event, attempt, made_ms, instance, task, type, error, payload) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
