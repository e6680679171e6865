-- run_partition_list: the partitions that a filter names, by run and part.
SELECT run, part, state, paused, bounded, low, high, total, next_offset, generation, page, job, items, repeats, pages, skipped, fetch_ms, fetch_ms_max, fetch_ms_last, slow, started_ms, updated_ms, ended_ms, name, cursor, error, params FROM pawl_run_partition
 WHERE (?1 = 0 OR run = ?1) AND (?2 IS NULL OR name = ?2) AND (?3 = 0 OR state = ?3)
   AND (?4 = 0 OR (state = 1 AND paused = 0 AND updated_ms <= ?5 - ?4)) AND (run, part) > (?6, ?7)
 ORDER BY run, part LIMIT ?8
