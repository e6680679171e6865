-- job_step_delete: the steps of a job that has ended.
DELETE FROM job_step WHERE job = ?1
