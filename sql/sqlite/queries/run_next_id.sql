-- run_next_id: the number of the next run.
SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'pawl_run'), 0) + 1
