-- view_runs: see functions/view_runs.sql
SELECT * FROM pawl.view_runs($1, $2, $3, $4, $5, $6, $7, $8)
