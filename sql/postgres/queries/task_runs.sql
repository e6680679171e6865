-- task_runs: see functions/task_runs.sql
SELECT * FROM pawl.task_runs($1, $2, $3, $4, $5, $6, $7)
