-- job_step_has_job: steps live as long as their job.
SELECT 'step ' || s.step || ' of job ' || s.job || ', which is gone' FROM pawl_job_step s WHERE NOT EXISTS (SELECT 1 FROM pawl_job j WHERE j.id = s.job)
