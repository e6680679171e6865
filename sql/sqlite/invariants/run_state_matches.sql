-- run_state_matches: a run is running while a partition is active, has an end exactly when it has ended, and its active partitions are paused as it is.
SELECT 'run ' || r.id || ' has state ' || r.state || ', ' || r.remaining || ' open' FROM pawl_run r
 WHERE (r.state = 1) <> (r.remaining > 0) OR (r.state >= 5) <> (r.ended_ms > 0)
UNION ALL
SELECT 'partition ' || p.part || ' of run ' || p.run || ' is active in state ' || r.state
  FROM pawl_run_partition p JOIN pawl_run r ON r.id = p.run
 WHERE p.state = 1 AND (r.state <> 1 OR p.paused <> r.paused)
