-- run: runs: their partitions, pages, items and targets.

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
SELECT p.run, p.part, p.state, p.paused, p.bounded, p.low, p.high, p.total, p.next_offset, p.generation, p.page, p.job, p.items, p.repeats,
       p.pages, p.skipped, p.fetch_ms, p.fetch_ms_max, p.fetch_ms_last, p.slow, p.started_ms, p.updated_ms, p.ended_ms, p.name, p.cursor,
       p.error, p.params, p.now_ms
  FROM pawl.view_partitions($1, $2, $3, $4, $5, $6, $7) p

-- name: view_runs
SELECT r.id, r.parent, r.state, r.paused, r.paced, r.consolidated, r.children_open, r.children_failed, r.page_size, r.concurrency, r.rate,
       r.rate_ms, r.deadline_ms, r.max_attempts, r.priority, r.flags, r.end_rule, r.policy, r.round, r.partitions, r.remaining, r.done,
       r.failed, r.started_ms, r.ended_ms, r.job, r.key, r.name, r.type, r.queue, r.consolidate, r.announce, r.target, r.traceparent,
       r.wait_key, r.error, r.params, r.spec, r.agent, r.now_ms,
       r.total, r.items, r.repeats, r.pages, r.skipped, r.fetch_ms, r.fetch_ms_max, r.slow, r.updated_ms
  FROM pawl.view_runs($1, $2, $3, $4, $5, $6, $7, $8) r
