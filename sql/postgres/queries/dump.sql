-- dump: every row of a store, for tests that compare stores.

-- name: dump_aside
-- Section 6 of the state dump.
SELECT a.kind::integer, a.lane, a.id, a.stream, a.attempts, a.deaths, a.reason::integer, a.error, a.scheduled_ms,
       a.out_of_order, a.losses::integer
  FROM pawl_internal.aside a ORDER BY a.kind, a.lane, a.seq

-- name: dump_checkpoints
-- Section 12 of the state dump.
SELECT c.stream, c.perspective, c.version, c.status::integer, c.attempts, c.error
  FROM pawl_internal.checkpoint c ORDER BY c.stream, c.perspective

-- name: dump_claims
-- Section 8 of the state dump.
SELECT c.kind::integer, c.lane, c.instance, c.source::integer, c.suspect::integer, c.lease_until_ms,
       ARRAY(SELECT coalesce(a.id, m.id) FROM pg_catalog.unnest(s.seqs) AS u(seq)
               LEFT JOIN pawl_internal.message m ON m.kind = c.kind AND m.lane = c.lane AND m.seq = u.seq AND c.source = :SOURCE_MESSAGE
               LEFT JOIN pawl_internal.aside a ON a.kind = c.kind AND a.seq = u.seq AND c.source = :SOURCE_ASIDE ORDER BY u.seq),
       ARRAY(SELECT d.id FROM pg_catalog.unnest(c.done_ids) AS d(id) ORDER BY d.id)
  FROM pawl_internal.claim c CROSS JOIN LATERAL (SELECT pawl_internal.claim_seqs(c) AS seqs OFFSET 0) s
 WHERE c.state = :CLAIM_ACTIVE ORDER BY c.kind, c.lane, s.seqs[1]

-- name: dump_dead
-- Section 9 of the state dump.
SELECT d.kind::integer, d.lane, d.id, d.stream, d.attempts, d.deaths, d.reason::integer, d.error, d.died_ms
  FROM pawl_internal.dead d ORDER BY d.kind, d.lane, d.seq

-- name: dump_dedupe
-- Section 10 of the state dump.
SELECT d.consumer, d.message_id FROM pawl_internal.dedupe d ORDER BY d.consumer, d.message_id

-- name: dump_history
-- Section 14 of the state dump.
SELECT h.kind::integer, h.id FROM pawl_internal.history h ORDER BY h.kind, h.seq

-- name: dump_holds
-- Section 7 of the state dump.
SELECT h.kind::integer, CASE WHEN pg_catalog.starts_with(h.key, pg_catalog.chr(1)) THEN NULL ELSE h.key END, h.lane,
       h.state::integer, h.due_ms, d.id
  FROM pawl_internal.hold h
  LEFT JOIN pawl_internal.dead d ON d.kind = h.kind AND d.seq = h.by_seq
 ORDER BY h.kind, (SELECT min(a.seq) FROM pawl_internal.aside a WHERE a.kind = h.kind AND a.key = h.key) NULLS LAST, h.key

-- name: dump_instances
-- Section 2 of the state dump.
SELECT i.id, i.service, i.kinds, i.state::integer, i.beat_ms, i.lease_until_ms FROM pawl_internal.instance i ORDER BY i.id

-- name: dump_items
-- Section 17 of the state dump.
SELECT r.key, i.key, i.part, i.payload::text FROM pawl_internal.run_item i JOIN pawl_internal.run r ON r.id = i.run ORDER BY i.run, i.key

-- name: dump_lanes
-- Section 4 of the state dump.
SELECT l.kind::integer, l.lane, l.owner, l.draining FROM pawl_internal.lane l WHERE l.owner IS NOT NULL ORDER BY l.kind, l.lane

-- name: dump_messages
-- Section 5 of the state dump.
SELECT m.kind::integer, m.lane, m.id, m.stream, m.type, m.payload, m.consumer, m.put_ms
  FROM pawl_internal.live_message m ORDER BY m.kind, m.lane, m.seq

-- name: dump_partitions
-- Section 16 of the state dump.
SELECT r.key, p.name, p.state::integer, p.paused, p.state = :PART_ACTIVE AND p.job <> 0, p.generation, p.page, p.next_offset, p.items, p.repeats,
       p.skipped, p.cursor, p.error
  FROM pawl_internal.run_partition p JOIN pawl_internal.run r ON r.id = p.run ORDER BY p.run, p.part

-- name: dump_receptors
-- Section 11 of the state dump.
SELECT r.event_id, r.receptor, r.status, r.attempts, r.error FROM pawl_internal.receptor r ORDER BY r.event_id, r.receptor

-- name: dump_runs
-- Section 15 of the state dump.
SELECT r.key, r.name, r.state::integer, r.paused, r.round, r.partitions, r.remaining, r.done, r.failed, r.children_open,
       r.children_failed, r.error
  FROM pawl_internal.run r ORDER BY r.id

-- name: dump_settings
-- Section 1 of the state dump.
SELECT s.partition_count, s.lane_count, s.epoch, s.max_attempts, s.dead_policy::integer FROM pawl_internal.settings s

-- name: dump_tally
-- Section 13 of the state dump.
SELECT k.kind, {{each tally: coalesce(sum(t.@), 0)::bigint}}
  FROM pg_catalog.generate_series(1, 3) AS k(kind) LEFT JOIN pawl_internal.tally t ON t.kind = k.kind GROUP BY k.kind ORDER BY k.kind

-- name: dump_tombstones
-- Section 3 of the state dump.
SELECT t.id FROM pawl_internal.tombstone t ORDER BY t.id
