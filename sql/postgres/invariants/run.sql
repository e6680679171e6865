-- run: invariants of runs, their partitions and items.

-- name: run_children_match
-- A run counts its open children, and no fewer failed ones than there are.
SELECT 'run ' || r.id || ' counts ' || r.children_open || ' open and ' || r.children_failed || ' failed children' FROM pawl_internal.run r
 WHERE r.children_open <> (SELECT count(*) FROM pawl_internal.run c WHERE c.parent = r.id AND c.state < :RUN_IS_COMPLETED)
    OR r.children_failed < (SELECT count(*) FROM pawl_internal.run c WHERE c.parent = r.id AND c.state > :RUN_IS_COMPLETED)

-- name: run_consolidation_has_job
-- A run that consolidates has its job.
SELECT 'run ' || r.id || ' waits for job ' || r.job FROM pawl_internal.run r
 WHERE r.state = :RUN_IS_CONSOLIDATING AND NOT EXISTS (SELECT 1 FROM pawl_internal.job j WHERE j.id = r.job) AND NOT EXISTS (SELECT 1 FROM pawl_internal.job_aside a WHERE a.id = r.job AND a.state <> :JOB_DEAD)

-- name: run_counters_match
-- The counters of a run are the numbers of its partitions by state.
SELECT 'run ' || r.id || ' says ' || r.remaining || '+' || r.done || '+' || r.failed || ' of ' || r.partitions
  FROM pawl_internal.run r
  LEFT JOIN (SELECT p.run, count(*) AS parts, sum(CASE WHEN p.state = :PART_ACTIVE THEN 1 ELSE 0 END) AS active,
                    sum(CASE WHEN p.state = :PART_DONE THEN 1 ELSE 0 END) AS done, sum(CASE WHEN p.state = :PART_FAILED THEN 1 ELSE 0 END) AS failed
               FROM pawl_internal.run_partition p GROUP BY p.run) s ON s.run = r.id
 WHERE coalesce(s.active, 0) <> r.remaining OR coalesce(s.done, 0) <> r.done OR coalesce(s.failed, 0) <> r.failed
    OR coalesce(s.parts, 0) <> r.partitions

-- name: run_item_has_partition
-- An item belongs to a partition of its run.
SELECT 'item ' || i.key || ' of run ' || i.run FROM pawl_internal.run_item i
 WHERE NOT EXISTS (SELECT 1 FROM pawl_internal.run_partition p WHERE p.run = i.run AND p.part = i.part)

-- name: run_partition_has_job
-- An active partition has a job that is unfinished and not dead, or none while it is paused.
SELECT 'partition ' || p.part || ' of run ' || p.run || ' waits for job ' || p.job FROM pawl_internal.run_partition p
 WHERE p.state = :PART_ACTIVE AND (NOT p.paused OR p.job <> 0)
   AND NOT EXISTS (SELECT 1 FROM pawl_internal.job j WHERE j.id = p.job) AND NOT EXISTS (SELECT 1 FROM pawl_internal.job_aside a WHERE a.id = p.job AND a.state <> :JOB_DEAD)

-- name: run_state_matches
-- A run is running while a partition is active, has an end exactly when it has ended, and its active partitions are paused as it is.
SELECT 'run ' || r.id || ' has state ' || r.state || ', ' || r.remaining || ' open' FROM pawl_internal.run r
 WHERE (r.state = :RUN_IS_RUNNING) <> (r.remaining > 0) OR (r.state >= :RUN_IS_COMPLETED) <> (r.ended_ms > 0)
UNION ALL
SELECT 'partition ' || p.part || ' of run ' || p.run || ' is active in state ' || r.state
  FROM pawl_internal.run_partition p JOIN pawl_internal.run r ON r.id = p.run
 WHERE p.state = :PART_ACTIVE AND (r.state <> :RUN_IS_RUNNING OR p.paused <> r.paused)
