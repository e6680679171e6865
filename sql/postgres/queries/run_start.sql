-- run_start: see functions/run_start.sql
SELECT answer, id FROM pawl.run_start($1, $2, $3, $4)
