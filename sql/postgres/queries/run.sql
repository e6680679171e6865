-- run: runs: many partitions of one task, their pages, items and targets.

-- name: page_begin
SELECT * FROM pawl.page_begin($1, $2, $3, $4, $5, $6, $7)

-- name: page_commit
SELECT * FROM pawl.page_commit($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)

-- name: page_select
SELECT * FROM pawl.page_select($1, $2)

-- name: run_cancel
SELECT pawl.run_cancel($1)

-- name: run_pace
SELECT pawl.run_pace($1, $2, $3, $4, $5)

-- name: run_pause
SELECT pawl.run_pause($1, $2)

-- name: run_reset
SELECT pawl.run_reset($1, $2, $3, $4)

-- name: run_retry
SELECT answer, count FROM pawl.run_retry($1, $2)

-- name: run_start
SELECT answer, id FROM pawl.run_start($1, $2, $3, $4)

-- name: run_sums
SELECT * FROM pawl.run_sums($1, $2)

-- name: run_target_put
SELECT pawl.run_target_put($1, $2)

-- name: run_target_remove
SELECT pawl.run_target_remove($1)

-- name: run_targets
SELECT * FROM pawl.run_targets()

-- name: runs_maintain
SELECT * FROM pawl.runs_maintain($1)

-- name: view_items
SELECT * FROM pawl.view_items($1, $2, $3, $4)

-- name: view_partitions
SELECT * FROM pawl.view_partitions($1, $2, $3, $4, $5, $6, $7)

-- name: view_runs
SELECT * FROM pawl.view_runs($1, $2, $3, $4, $5, $6, $7, $8)
