-- run_partition_save: writes what changes of a partition.
UPDATE pawl_run_partition SET state = ?3, paused = ?4, next_offset = ?5, generation = ?6, page = ?7, job = ?8, items = ?9, repeats = ?10, pages = ?11, skipped = ?12,
               fetch_ms = ?13, fetch_ms_max = ?14, fetch_ms_last = ?15, slow = ?16, updated_ms = ?17, ended_ms = ?18, cursor = ?19, error = ?20
 WHERE run = ?1 AND part = ?2
