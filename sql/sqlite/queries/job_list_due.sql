-- job_list_due: jobs that have become due, in order.
SELECT id FROM pawl_job WHERE state IN (3, 4) AND due_ms <= ?1 ORDER BY due_ms, id LIMIT ?2
