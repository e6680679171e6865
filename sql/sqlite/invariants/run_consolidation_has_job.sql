-- run_consolidation_has_job: a run that consolidates has its job.
SELECT 'run ' || r.id || ' waits for job ' || r.job FROM pawl_run r
 WHERE r.state = 2 AND NOT EXISTS (SELECT 1 FROM pawl_job j WHERE j.id = r.job AND j.state <> 5)
