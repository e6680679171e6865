-- dump: every row of a store, for tests that compare stores.

-- name: dump_aside
-- Aside rows for the state dump.
SELECT kind, lane, id, stream, attempts, deaths, reason, error, scheduled_ms, out_of_order, losses
  FROM pawl_aside ORDER BY kind, lane, seq

-- name: dump_checkpoint
-- Checkpoints for the state dump.
SELECT stream, perspective, version, status, attempts, error FROM pawl_checkpoint ORDER BY stream, perspective

-- name: dump_dead
-- Dead letters for the state dump.
SELECT kind, lane, id, stream, attempts, deaths, reason, error, died_ms FROM pawl_dead ORDER BY kind, lane, seq

-- name: dump_dedupe
-- What is deduplicated, for the state dump.
SELECT consumer, id FROM pawl_dedupe ORDER BY consumer, id

-- name: dump_history
-- The history for the state dump.
SELECT kind, id FROM pawl_history ORDER BY kind, seq

-- name: dump_hold
-- Holds for the state dump: by their first aside row, then those without one by name.
SELECT kind, iif(substr(key, 1, 1) = char(1), NULL, key), lane, state, due_ms, (SELECT id FROM pawl_dead WHERE pawl_dead.kind = pawl_hold.kind AND pawl_dead.seq = pawl_hold.by_seq)
  FROM pawl_hold
 ORDER BY kind, (SELECT min(seq) FROM pawl_aside WHERE pawl_aside.kind = pawl_hold.kind AND pawl_aside.key = pawl_hold.key) NULLS LAST, key

-- name: dump_instance
-- Instances for the state dump.
SELECT id, service, kinds, state, beat_ms, lease_until_ms FROM pawl_instance ORDER BY id

-- name: dump_item
-- Items for the state dump.
SELECT r.key, i.key, i.part, i.payload FROM pawl_run_item i JOIN pawl_run r ON r.id = i.run ORDER BY i.run, i.key

-- name: dump_lane
-- Owned lanes for the state dump.
SELECT kind, lane, owner, draining FROM pawl_lane WHERE owner IS NOT NULL ORDER BY kind, lane

-- name: dump_message
-- Messages for the state dump.
SELECT kind, lane, id, stream, type, payload, consumer, put_ms FROM pawl_message ORDER BY kind, lane, seq

-- name: dump_partition
-- Partitions for the state dump.
SELECT r.key, p.name, p.state, p.paused, p.state = :PART_ACTIVE AND p.job <> 0, p.generation, p.page, p.next_offset, p.items, p.repeats, p.skipped, p.cursor, p.error
  FROM pawl_run_partition p JOIN pawl_run r ON r.id = p.run ORDER BY p.run, p.part

-- name: dump_receptor
-- Receptors for the state dump.
SELECT event_id, receptor, status, attempts, error FROM pawl_receptor ORDER BY event_id, receptor

-- name: dump_run
-- Runs for the state dump.
SELECT key, name, state, paused, round, partitions, remaining, done, failed, children_open, children_failed, error FROM pawl_run ORDER BY id

-- name: dump_settings
-- The settings for the state dump.
SELECT partition_count, lane_count, epoch, max_attempts, dead_policy FROM pawl_settings

-- name: dump_tally
-- Sums for the state dump.
SELECT kind, {{tally}} FROM pawl_tally ORDER BY kind

-- name: dump_tombstone
-- Tombstones for the state dump.
SELECT id FROM pawl_tombstone ORDER BY id
