-- run_target_remove: see functions/run_target_remove.sql
SELECT pawl.run_target_remove($1)
