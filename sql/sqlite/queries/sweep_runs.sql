-- sweep_runs: executions beyond their retention.
DELETE FROM pawl_task_run WHERE id IN (SELECT id FROM pawl_task_run WHERE expires_ms < ?1 LIMIT ?2)
