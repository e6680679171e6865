-- task_put: see functions/task_put.sql
SELECT * FROM pawl.task_put($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
