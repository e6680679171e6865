-- wait_end: see functions/wait_end.sql
SELECT pawl.wait_end($1)
