-- job_list_token_ord: the unfinished jobs of a claim, in order.
SELECT id FROM pawl_job WHERE token = ?1 AND state = 2 ORDER BY ord, id
