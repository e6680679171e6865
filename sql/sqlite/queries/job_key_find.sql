-- job_key_find: the state of a key.
SELECT running, vtime, tat_us FROM pawl_job_key WHERE key = ?1
