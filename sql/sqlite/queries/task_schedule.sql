-- task_schedule: whether a schedule names a task.
SELECT 1 FROM schedule WHERE task = ?1 LIMIT 1
