-- job_set: what changes when a job moves.
UPDATE pawl_job SET state = ?2, ord = ?3, due_ms = ?4, token = ?5, lease_until_ms = ?6, attempts = ?7, deadline_ms = ?8, cancel_ms = ?9,
               died_ms = ?10, reason = ?11, wait_key = ?12, wait_step = ?13, fingerprint = ?14, error = ?15
 WHERE id = ?1
