-- job_done_insert: a job was reported under a token.
INSERT OR IGNORE INTO pawl_job_done (token, id) VALUES (?1, ?2)
