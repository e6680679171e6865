-- run_partition_find: a partition.
SELECT run, part, state, paused, bounded, low, high, total, next_offset, generation, page, job, items, repeats, pages, skipped, fetch_ms, fetch_ms_max, fetch_ms_last, slow, started_ms, updated_ms, ended_ms, name, cursor, error, params FROM pawl_run_partition WHERE run = ?1 AND part = ?2
