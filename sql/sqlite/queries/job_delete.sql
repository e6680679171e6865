-- job_delete: a job has ended.
DELETE FROM pawl_job WHERE id = ?1
