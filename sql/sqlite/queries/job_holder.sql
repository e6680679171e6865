-- job_holder: the unfinished job that holds a unique key.
SELECT id FROM pawl_job WHERE unique_key = ?1 AND unique_key IS NOT NULL AND state <> 5
