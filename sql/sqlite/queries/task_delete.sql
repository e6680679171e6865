-- task_delete: removes a task.
DELETE FROM task WHERE name = ?1
