-- job_state_read: the counters of pooled work.
SELECT last_job, last_run, swept_ms, vtime, turn FROM pawl_job_state
