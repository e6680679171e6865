-- run_places: where the executions stand in the blocks.
SELECT block, place FROM pawl_task_run ORDER BY block, place
