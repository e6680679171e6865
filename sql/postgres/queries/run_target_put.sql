-- run_target_put: see functions/run_target_put.sql
SELECT pawl.run_target_put($1, $2)
