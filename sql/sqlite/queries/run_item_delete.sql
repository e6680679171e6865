-- run_item_delete: some items of a run go.
DELETE FROM run_item WHERE run = ?1 AND key IN (SELECT key FROM run_item WHERE run = ?1 ORDER BY key LIMIT ?2)
