-- task_put: makes or changes a task.
INSERT OR REPLACE INTO pawl_task (name, agent, type, spec, params, scopes, queue, key, priority, max_attempts, flags, timeout_ms, retention_ms, version, updated_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
