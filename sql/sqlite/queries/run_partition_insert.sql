-- run_partition_insert: stores a partition.
INSERT INTO pawl_run_partition (run, part, state, paused, bounded, low, high, total, next_offset, generation, page, job, items, repeats, pages, skipped, fetch_ms, fetch_ms_max, fetch_ms_last, slow, started_ms, updated_ms, ended_ms, name, cursor, error, params)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27)
