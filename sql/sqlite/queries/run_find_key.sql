-- run_find_key: the run that has a key.
SELECT id FROM run WHERE key = ?1
