-- job_list_token: the unfinished jobs of a claim, by id.
SELECT id FROM pawl_job WHERE token = ?1 AND state = 2 ORDER BY id
