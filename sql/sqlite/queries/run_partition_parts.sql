-- run_partition_parts: the partitions of a run in a state.
SELECT part FROM pawl_run_partition WHERE run = ?1 AND state = ?2 ORDER BY part
