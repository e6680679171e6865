-- job_state_write: keeps the counters of pooled work.
UPDATE pawl_job_state SET last_job = ?1, last_run = ?2, swept_ms = ?3, vtime = ?4, turn = ?5
