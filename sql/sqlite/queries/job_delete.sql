-- job_delete: a job has ended.
DELETE FROM job WHERE id = ?1
