-- job_step_find: the state of a step.
SELECT state FROM pawl_job_step WHERE job = ?1 AND step = ?2 AND "index" = ?3
