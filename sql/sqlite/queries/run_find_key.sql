-- run_find_key: the run that has a key.
SELECT id FROM pawl_run WHERE key = ?1
