-- run_verify: every execution with its place in the chain.
SELECT r.id, r.job, r.task, r.type, r.queue, r.attempt, r.instance, r.token, r.started_ms, r.finished_ms, r.outcome, r.output, r.error, r.steps, r.input_hash, r.output_hash, r.hash, r.expires_ms, r.place, b.entries
  FROM pawl_task_run r LEFT JOIN pawl_audit_block b ON b.id = r.block ORDER BY r.id
