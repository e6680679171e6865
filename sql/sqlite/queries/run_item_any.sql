-- run_item_any: whether a run has items.
SELECT 1 FROM pawl_run_item WHERE run = ?1 LIMIT 1
