-- job_key_next: the next key of a queue that has a ready job.
SELECT key FROM pawl_job WHERE queue = ?1 AND key > ?2 AND key IS NOT NULL AND state = 1 ORDER BY key LIMIT 1
