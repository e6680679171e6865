-- run_pause: see functions/run_pause.sql
SELECT pawl.run_pause($1, $2)
