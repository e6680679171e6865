-- wait_begin: see functions/wait_begin.sql
SELECT pawl.wait_begin($1, $2, $3)
