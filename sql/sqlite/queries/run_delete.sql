-- run_delete: a run goes.
DELETE FROM run WHERE id = ?1
