-- job_tally_matches_tables: the gauges of a queue are the numbers of its jobs.
SELECT pg_catalog.format('queue %s: ready %s / %s, running %s / %s, later %s / %s, waiting %s / %s, dead %s / %s', coalesce(t.queue, r.queue),
                         t.ready, r.ready, t.running, r.running, t.later, r.later, t.waiting, r.waiting, t.dead, r.dead)
  FROM (SELECT y.queue, sum(y.ready) AS ready, sum(y.running) AS running, sum(y.later) AS later, sum(y.waiting) AS waiting,
               sum(y.dead) AS dead FROM pawl.job_tally y GROUP BY y.queue) t
  FULL JOIN (SELECT a.queue, count(*) FILTER (WHERE a.state = 1) AS ready, count(*) FILTER (WHERE a.state = 2) AS running,
                    count(*) FILTER (WHERE a.state = 3) AS later, count(*) FILTER (WHERE a.state = 4) AS waiting,
                    count(*) FILTER (WHERE a.state = 5) AS dead
               FROM (SELECT j.queue, CASE WHEN j.token > 0 THEN 2 ELSE 1 END AS state FROM pawl.job j
                     UNION ALL SELECT o.queue, o.state FROM pawl.job_aside o) a GROUP BY a.queue) r
    ON r.queue = t.queue
 WHERE coalesce(t.ready, 0) <> coalesce(r.ready, 0) OR coalesce(t.running, 0) <> coalesce(r.running, 0)
    OR coalesce(t.later, 0) <> coalesce(r.later, 0) OR coalesce(t.waiting, 0) <> coalesce(r.waiting, 0)
    OR coalesce(t.dead, 0) <> coalesce(r.dead, 0)
