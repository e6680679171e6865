-- job_list_keyed: ready jobs of a key, in order.
SELECT id FROM pawl_job WHERE queue = ?1 AND key = ?2 AND key IS NOT NULL AND state = 1 ORDER BY ord, id LIMIT ?3
