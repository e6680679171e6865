-- job_list_request: the unfinished jobs that a request was granted, in order.
SELECT j.id FROM pawl_job_claim c JOIN pawl_job j ON j.token = c.token AND j.state = 2
 WHERE c.request = ?1 AND c.instance = ?2 AND c.active = 1 ORDER BY j.ord, j.id
