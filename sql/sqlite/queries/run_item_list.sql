-- run_item_list: items of a run, by key.
SELECT part, key, payload FROM pawl_run_item WHERE run = ?1 AND (?2 < 0 OR part = ?2) AND (?3 IS NULL OR key > ?3) ORDER BY key LIMIT ?4
