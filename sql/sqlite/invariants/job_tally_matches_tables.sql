-- job_tally_matches_tables: the gauges of a queue are the numbers of its jobs.
SELECT 'queue ' || t.queue || ': ' || t.ready || ' ready, ' || t.running || ' running, ' || t.later || ' later, ' || t.waiting || ' waiting, ' || t.dead || ' dead'
  FROM pawl_job_tally t
 WHERE t.ready <> (SELECT count(*) FROM pawl_job j WHERE j.queue = t.queue AND j.state = 1)
    OR t.running <> (SELECT count(*) FROM pawl_job j WHERE j.queue = t.queue AND j.state = 2)
    OR t.later <> (SELECT count(*) FROM pawl_job j WHERE j.queue = t.queue AND j.state = 3)
    OR t.waiting <> (SELECT count(*) FROM pawl_job j WHERE j.queue = t.queue AND j.state = 4)
    OR t.dead <> (SELECT count(*) FROM pawl_job j WHERE j.queue = t.queue AND j.state = 5)
UNION ALL
SELECT 'queue ' || j.queue || ' has a job and no tally' FROM pawl_job j WHERE NOT EXISTS (SELECT 1 FROM pawl_job_tally t WHERE t.queue = j.queue)
