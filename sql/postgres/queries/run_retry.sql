-- run_retry: see functions/run_retry.sql
SELECT answer, count FROM pawl.run_retry($1, $2)
