-- run_delete: a run goes.
DELETE FROM pawl_run WHERE id = ?1
