-- job_limit_delete: removes the limits of a key.
DELETE FROM job_limit WHERE key = ?1
