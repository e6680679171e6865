-- run_target_list: the targets, by name.
SELECT name, sql, updated_ms FROM run_target ORDER BY name
