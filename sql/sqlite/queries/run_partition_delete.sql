-- run_partition_delete: the partitions of a run go.
DELETE FROM pawl_run_partition WHERE run = ?1
