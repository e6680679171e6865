-- run_target_put: names a statement.
INSERT INTO pawl_run_target (name, sql, updated_ms) VALUES (?1, ?2, ?3) ON CONFLICT (name) DO UPDATE SET sql = excluded.sql, updated_ms = excluded.updated_ms
