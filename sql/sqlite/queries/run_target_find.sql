-- run_target_find: the statement of a target.
SELECT sql FROM pawl_run_target WHERE name = ?1
