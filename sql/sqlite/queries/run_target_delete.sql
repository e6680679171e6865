-- run_target_delete: forgets a target.
DELETE FROM run_target WHERE name = ?1
