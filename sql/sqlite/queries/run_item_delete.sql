-- run_item_delete: some items of a run go.
DELETE FROM pawl_run_item WHERE run = ?1 AND key IN (SELECT key FROM pawl_run_item WHERE run = ?1 ORDER BY key LIMIT ?2)
