-- run_consolidation_has_job: a run that consolidates has its job.
SELECT 'run ' || r.id || ' waits for job ' || r.job FROM pawl.run r
 WHERE r.state = 2 AND NOT EXISTS (SELECT 1 FROM pawl.job j WHERE j.id = r.job) AND NOT EXISTS (SELECT 1 FROM pawl.job_aside a WHERE a.id = r.job AND a.state <> 5)
