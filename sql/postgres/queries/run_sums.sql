-- run_sums: see functions/run_sums.sql
SELECT * FROM pawl.run_sums($1, $2)
