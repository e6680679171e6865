-- run_target_find: the statement of a target.
SELECT sql FROM run_target WHERE name = ?1
