-- run_counters_match: the counters of a run are the numbers of its partitions by state.
SELECT 'run ' || r.id || ' says ' || r.remaining || '+' || r.done || '+' || r.failed || ' of ' || r.partitions
  FROM pawl_run r
  LEFT JOIN (SELECT p.run, count(*) AS parts, sum(CASE WHEN p.state = 1 THEN 1 ELSE 0 END) AS active,
                    sum(CASE WHEN p.state = 2 THEN 1 ELSE 0 END) AS done, sum(CASE WHEN p.state = 3 THEN 1 ELSE 0 END) AS failed
               FROM pawl_run_partition p GROUP BY p.run) s ON s.run = r.id
 WHERE coalesce(s.active, 0) <> r.remaining OR coalesce(s.done, 0) <> r.done OR coalesce(s.failed, 0) <> r.failed
    OR coalesce(s.parts, 0) <> r.partitions
