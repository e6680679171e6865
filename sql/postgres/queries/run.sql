-- run: runs: their partitions, pages, items and targets.
-- calls: page_begin, page_commit, page_select, run_cancel, run_pace, run_pause, run_reset, run_retry, run_start, run_sums,
--   run_target_put, run_target_remove, run_targets, runs_maintain, view_items

-- name: view_partitions
SELECT p.run, p.part, p.state, p.paused, p.bounded, p.low, p.high, p.total, p.next_offset, p.generation, p.page, p.job, p.items, p.repeats,
       p.pages, p.skipped, p.fetch_ms, p.fetch_ms_max, p.fetch_ms_last, p.slow, p.started_ms, p.updated_ms, p.ended_ms, p.name, p.cursor,
       p.error, p.params, p.now_ms
  FROM pawl_internal.view_partitions($1, $2, $3, $4, $5, $6, $7) p

-- name: view_runs
SELECT r.id, r.parent, r.state, r.paused, r.paced, r.consolidated, r.children_open, r.children_failed, r.page_size, r.concurrency, r.rate,
       r.rate_ms, r.deadline_ms, r.max_attempts, r.priority, r.flags, r.end_rule, r.policy, r.round, r.partitions, r.remaining, r.done,
       r.failed, r.started_ms, r.ended_ms, r.job, r.key, r.name, r.type, r.queue, r.consolidate, r.announce, r.target, r.traceparent,
       r.wait_key, r.error, r.params, r.spec, r.agent, r.now_ms,
       r.total, r.items, r.repeats, r.pages, r.skipped, r.fetch_ms, r.fetch_ms_max, r.slow, r.updated_ms
  FROM pawl_internal.view_runs($1, $2, $3, $4, $5, $6, $7, $8) r
