-- job_list_overdue: ready jobs whose deadline has come.
SELECT id FROM pawl_job WHERE state = 1 AND deadline_ms > 0 AND deadline_ms <= ?1 ORDER BY deadline_ms, id LIMIT ?2
