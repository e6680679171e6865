-- job_done_any: whether anything was reported under a token.
SELECT 1 FROM pawl_job_done WHERE token = ?1 LIMIT 1
