-- sweep_runs: executions beyond their retention.
DELETE FROM task_run WHERE id IN (SELECT id FROM task_run WHERE expires_ms < ?1 LIMIT ?2)
