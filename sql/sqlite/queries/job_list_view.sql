-- job_list_view: jobs by filter.
SELECT id FROM job
 WHERE id > ?1 AND (?2 = 0 OR id = ?2) AND (?3 = 0 OR state = ?3) AND (?4 IS NULL OR queue = ?4) AND (?5 IS NULL OR task = ?5)
   AND (?6 IS NULL OR type = ?6) AND (?7 IS NULL OR key = ?7) AND (?8 IS NULL OR fingerprint = ?8)
 ORDER BY id LIMIT ?9
