-- run_target_used: whether a run that has not ended names a target.
SELECT 1 FROM pawl_run WHERE target = ?1 AND state < 5 LIMIT 1
