-- task_schedule: whether a schedule names a task.
SELECT 1 FROM pawl_schedule WHERE task = ?1 LIMIT 1
