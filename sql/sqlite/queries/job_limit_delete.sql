-- job_limit_delete: removes the limits of a key.
DELETE FROM pawl_job_limit WHERE key = ?1
