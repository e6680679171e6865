-- job_done_find: whether a job was reported under a token.
SELECT 1 FROM pawl_job_done WHERE token = ?1 AND id = ?2
