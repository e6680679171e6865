-- task_delete: removes a task.
DELETE FROM pawl_task WHERE name = ?1
