-- job_step_delete: the steps of a job that has ended.
DELETE FROM pawl_job_step WHERE job = ?1
