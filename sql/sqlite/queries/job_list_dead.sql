-- job_list_dead: dead jobs of one cause in order, and whether they fit a filter.
-- params: after_id, state (0: any), queue, task, type, key, fingerprint
SELECT id, (?3 IS NULL OR queue = ?3) AND (?4 IS NULL OR task = ?4) AND (?5 IS NULL OR type = ?5) AND (?6 IS NULL OR key = ?6)
  FROM pawl_job INDEXED BY pawl_job_dead_first WHERE state = 5 AND fingerprint = ?7 AND id > ?1 AND ?2 IN (0, 5)
 ORDER BY id
