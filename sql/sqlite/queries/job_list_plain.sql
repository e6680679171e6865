-- job_list_plain: ready jobs without a key, in order.
SELECT id FROM pawl_job WHERE queue = ?1 AND state = 1 AND key IS NULL ORDER BY ord, id LIMIT ?2
