-- job_list_view: jobs in order, and whether they fit a filter.
-- params: after_id, state (0: any), queue, task, type, key
SELECT id, (?2 = 0 OR state = ?2) AND (?3 IS NULL OR queue = ?3) AND (?4 IS NULL OR task = ?4) AND (?5 IS NULL OR type = ?5)
           AND (?6 IS NULL OR key = ?6)
  FROM pawl_job NOT INDEXED WHERE id > ?1
 ORDER BY id
