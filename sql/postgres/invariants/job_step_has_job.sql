-- job_step_has_job: steps live as long as their job.
SELECT pg_catalog.format('step %s of job %s, which is gone', s.step, s.job)
  FROM pawl.job_step s
 WHERE NOT EXISTS (SELECT 1 FROM pawl.job j WHERE j.id = s.job)
   AND NOT EXISTS (SELECT 1 FROM pawl.job_aside a WHERE a.id = s.job)
