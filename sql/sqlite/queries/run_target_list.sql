-- run_target_list: the targets, by name.
SELECT name, sql, updated_ms FROM pawl_run_target ORDER BY name
