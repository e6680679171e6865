-- run: runs: their partitions, pages, items and targets.

-- name: run_begin
-- Stores a run.
INSERT INTO pawl_run (id, parent, state, paused, paced, consolidated, children_open, children_failed, page_size, concurrency, rate, rate_ms, deadline_ms, max_attempts, priority, flags, end_rule, policy, round, partitions, remaining, done, failed, started_ms, ended_ms, job, key, name, type, queue, consolidate, announce, target, traceparent, wait_key, error, params, spec, agent)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35, ?36, ?37, ?38, ?39)

-- name: run_delete
-- A run goes.
DELETE FROM pawl_run WHERE id = ?1

-- name: run_expired
-- Runs that ended before a time, oldest first.
SELECT id FROM pawl_run WHERE ended_ms > 0 AND ended_ms < ?1 ORDER BY id LIMIT ?2

-- name: run_find
-- A run.
SELECT id, parent, state, paused, paced, consolidated, children_open, children_failed, page_size, concurrency, rate, rate_ms, deadline_ms, max_attempts, priority, flags, end_rule, policy, round, partitions, remaining, done, failed, started_ms, ended_ms, job, key, name, type, queue, consolidate, announce, target, traceparent, wait_key, error, params, spec, agent FROM pawl_run WHERE id = ?1

-- name: run_find_key
-- The run that has a key.
SELECT id FROM pawl_run WHERE key = ?1

-- name: run_item_any
-- Whether a run has items.
SELECT 1 FROM pawl_run_item WHERE run = ?1 LIMIT 1

-- name: run_item_delete
-- Some items of a run go.
DELETE FROM pawl_run_item WHERE run = ?1 AND key IN (SELECT key FROM pawl_run_item WHERE run = ?1 ORDER BY key LIMIT ?2)

-- name: view_items
-- Items of a run, by key.
SELECT part, key, payload FROM pawl_run_item WHERE run = ?1 AND (?2 < 0 OR part = ?2) AND (?3 IS NULL OR key > ?3) ORDER BY key LIMIT ?4

-- name: run_item_put
-- Stores an item, or replaces the one with its key.
INSERT INTO pawl_run_item (run, key, part, payload) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (run, key) DO UPDATE SET part = excluded.part, payload = excluded.payload

-- name: run_key_forget
-- The state of a run's key goes.
DELETE FROM pawl_job_key WHERE key = ?1 AND running = 0

-- name: run_next_id
-- The number of the next run.
SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'pawl_run'), 0) + 1

-- name: run_partition_delete
-- The partitions of a run go.
DELETE FROM pawl_run_partition WHERE run = ?1

-- name: run_partition_find
-- A partition.
SELECT run, part, state, paused, bounded, low, high, total, next_offset, generation, page, job, items, repeats, pages, skipped, fetch_ms, fetch_ms_max, fetch_ms_last, slow, started_ms, updated_ms, ended_ms, name, cursor, error, params FROM pawl_run_partition WHERE run = ?1 AND part = ?2

-- name: run_partition_insert
-- Stores a partition.
INSERT INTO pawl_run_partition (run, part, state, paused, bounded, low, high, total, next_offset, generation, page, job, items, repeats, pages, skipped, fetch_ms, fetch_ms_max, fetch_ms_last, slow, started_ms, updated_ms, ended_ms, name, cursor, error, params)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27)

-- name: run_partition_list
-- The partitions that a filter names, by run and part.
-- params: the filter, now_ms
SELECT run, part, state, paused, bounded, low, high, total, next_offset, generation, page, job, items, repeats, pages, skipped, fetch_ms, fetch_ms_max, fetch_ms_last, slow, started_ms, updated_ms, ended_ms, name, cursor, error, params FROM pawl_run_partition
 WHERE (?1 = 0 OR run = ?1) AND (?2 IS NULL OR name = ?2) AND (?3 = 0 OR state = ?3)
   AND (?4 = 0 OR (state = :PART_ACTIVE AND paused = 0 AND updated_ms <= ?8 - ?4)) AND (run, part) > (?5, ?6)
 ORDER BY run, part LIMIT ?7

-- name: run_partition_parts
-- The partitions of a run in a state.
SELECT part FROM pawl_run_partition WHERE run = ?1 AND state = ?2 ORDER BY part

-- name: run_partition_save
-- Writes what changes of a partition.
UPDATE pawl_run_partition SET state = ?3, paused = ?4, next_offset = ?5, generation = ?6, page = ?7, job = ?8, items = ?9, repeats = ?10, pages = ?11, skipped = ?12,
               fetch_ms = ?13, fetch_ms_max = ?14, fetch_ms_last = ?15, slow = ?16, updated_ms = ?17, ended_ms = ?18, cursor = ?19, error = ?20
 WHERE run = ?1 AND part = ?2

-- name: run_pick
-- The runs that a filter names, newest first.
SELECT id FROM pawl_run
 WHERE (?1 = 0 OR id = ?1) AND (?2 IS NULL OR key = ?2) AND (?3 IS NULL OR name = ?3) AND (?4 = 0 OR state = ?4) AND (?5 = 0 OR state < :RUN_IS_COMPLETED)
   AND (?6 = 0 OR parent = ?6) AND (?7 = 0 OR id < ?7)
 ORDER BY id DESC LIMIT ?8

-- name: run_save
-- Writes what changes of a run.
UPDATE pawl_run SET state = ?2, paused = ?3, consolidated = ?4, children_open = ?5, children_failed = ?6, concurrency = ?7, rate = ?8, rate_ms = ?9,
               round = ?10, remaining = ?11, done = ?12, failed = ?13, ended_ms = ?14, job = ?15, error = ?16
 WHERE id = ?1

-- name: run_sums
-- What the partitions of a run have done together.
SELECT CASE WHEN coalesce(min(total), 0) < 0 THEN -1 ELSE coalesce(sum(total), 0) END, coalesce(sum(items), 0), coalesce(sum(repeats), 0), coalesce(sum(pages), 0),
       coalesce(sum(skipped), 0), coalesce(sum(fetch_ms), 0), coalesce(max(fetch_ms_max), 0), coalesce(sum(slow), 0), coalesce(max(updated_ms), 0)
  FROM pawl_run_partition WHERE run = ?1

-- name: run_target_delete
-- Forgets a target.
DELETE FROM pawl_run_target WHERE name = ?1

-- name: run_target_find
-- The statement of a target.
SELECT sql FROM pawl_run_target WHERE name = ?1

-- name: run_targets
-- The targets, by name.
SELECT name, sql, updated_ms FROM pawl_run_target ORDER BY name

-- name: run_target_put
-- Names a statement.
INSERT INTO pawl_run_target (name, sql, updated_ms) VALUES (?1, ?2, ?3) ON CONFLICT (name) DO UPDATE SET sql = excluded.sql, updated_ms = excluded.updated_ms

-- name: run_target_used
-- Whether a run that has not ended names a target.
SELECT 1 FROM pawl_run WHERE target = ?1 AND state < :RUN_IS_COMPLETED LIMIT 1
