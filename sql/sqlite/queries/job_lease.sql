-- job_lease: a job is granted.
UPDATE pawl_job SET state = 2, token = ?2, lease_until_ms = ?3, attempts = attempts + 1 WHERE id = ?1
