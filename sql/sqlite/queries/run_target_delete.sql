-- run_target_delete: forgets a target.
DELETE FROM pawl_run_target WHERE name = ?1
