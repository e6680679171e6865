-- run_cancel: see functions/run_cancel.sql
SELECT pawl.run_cancel($1)
