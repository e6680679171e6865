-- job_one_place: a job is in one place, and the place fits its state.
SELECT 'job ' || id || ' has state ' || state FROM pawl_job
 WHERE (state = 4) <> (wait_key IS NOT NULL) OR (state = 5) <> (died_ms > 0) OR (state = 2) <> (lease_until_ms > 0)
