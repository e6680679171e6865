-- run_pick: the runs that a filter names, newest first.
SELECT id FROM pawl_run
 WHERE (?1 = 0 OR id = ?1) AND (?2 IS NULL OR key = ?2) AND (?3 IS NULL OR name = ?3) AND (?4 = 0 OR state = ?4) AND (?5 = 0 OR state < 5)
   AND (?6 = 0 OR parent = ?6) AND (?7 = 0 OR id < ?7)
 ORDER BY id DESC LIMIT ?8
