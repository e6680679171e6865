-- job_list_running: running jobs in order, and whether they fit a filter; there are never many.
-- params: after_id, state (not used), queue, task, type, key
SELECT id, (?3 IS NULL OR queue = ?3) AND (?4 IS NULL OR task = ?4) AND (?5 IS NULL OR type = ?5) AND (?6 IS NULL OR key = ?6)
  FROM pawl_job INDEXED BY pawl_job_token WHERE state = 2 AND token > 0 AND id > ?1 AND ?2 IN (0, 2)
 ORDER BY id
