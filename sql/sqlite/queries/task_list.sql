-- task_list: tasks by name.
SELECT name, agent, type, spec, params, scopes, queue, key, priority, max_attempts, flags, timeout_ms, retention_ms, version, updated_ms
  FROM pawl_task WHERE (?1 IS NULL OR name = ?1) AND (?2 IS NULL OR name > ?2) ORDER BY name LIMIT ?3
