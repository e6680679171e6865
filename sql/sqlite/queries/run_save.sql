-- run_save: writes what changes of a run.
UPDATE pawl_run SET state = ?2, paused = ?3, consolidated = ?4, children_open = ?5, children_failed = ?6, concurrency = ?7, rate = ?8, rate_ms = ?9,
               round = ?10, remaining = ?11, done = ?12, failed = ?13, ended_ms = ?14, job = ?15, error = ?16
 WHERE id = ?1
