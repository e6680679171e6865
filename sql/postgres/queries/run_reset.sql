-- run_reset: see functions/run_reset.sql
SELECT pawl.run_reset($1, $2, $3, $4)
