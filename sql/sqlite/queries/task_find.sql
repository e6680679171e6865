-- task_find: a task by its name.
SELECT name, agent, type, spec, params, scopes, queue, key, priority, max_attempts, flags, timeout_ms, retention_ms, version, updated_ms
  FROM pawl_task WHERE name = ?1
