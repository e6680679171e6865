-- run_expired: runs that ended before a time, oldest first.
SELECT id FROM pawl_run WHERE ended_ms > 0 AND ended_ms < ?1 ORDER BY id LIMIT ?2
