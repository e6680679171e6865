-- run_partition_has_job: an active partition has a job that is unfinished and not dead, or none while it is paused.
SELECT 'partition ' || p.part || ' of run ' || p.run || ' waits for job ' || p.job FROM pawl_run_partition p
 WHERE p.state = 1 AND (NOT p.paused OR p.job <> 0)
   AND NOT EXISTS (SELECT 1 FROM pawl_job j WHERE j.id = p.job AND j.state <> 5)
