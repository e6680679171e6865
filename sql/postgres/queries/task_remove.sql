-- task_remove: see functions/task_remove.sql
SELECT pawl.task_remove($1)
