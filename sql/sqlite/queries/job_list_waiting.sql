-- job_list_waiting: jobs that wait for a signal, by id.
SELECT id FROM pawl_job WHERE wait_key = ?1 AND state = 4 ORDER BY id
