-- history: finished messages that are kept, and what maintenance removes.

-- name: history_delete
-- One completed message goes.
-- params: kind, seq
DELETE FROM pawl_history WHERE kind = ?1 AND seq = ?2

-- name: list_history
-- Completed messages in order, and whether they fit a filter.
-- params: kind, lane (-1: any), after_seq, below_seq, stream, type, topic, before_ms (0: any)
SELECT seq, lane, (?2 = -1 OR lane = ?2) AND (?5 IS NULL OR stream = ?5) AND (?6 IS NULL OR type = ?6) AND (?7 IS NULL OR topic = ?7)
                  AND (?8 = 0 OR ended_ms < ?8)
  FROM pawl_history NOT INDEXED WHERE kind = ?1 AND seq > ?3 AND seq < ?4
 ORDER BY seq

-- name: message_to_history
-- Copy a range of completed messages to the history; their own rows are deleted next.
-- params: kind, lane, first_seq, last_seq, now_ms
INSERT INTO pawl_history (kind, seq, lane, ended_ms, attempts, deaths, out_of_order,
                     {{message}})
SELECT kind, seq, lane, ?5, 0, 0, 0,
       {{message}}
  FROM pawl_message WHERE kind = ?1 AND lane = ?2 AND seq BETWEEN ?3 AND ?4

-- name: purge_claim
-- Claims that ended long ago.
-- params: before_ms, limit
DELETE FROM pawl_claim
 WHERE rowid IN (SELECT rowid FROM pawl_claim WHERE state <> :CLAIM_ACTIVE AND lease_until_ms < ?1 ORDER BY lease_until_ms LIMIT ?2)

-- name: purge_dedupe
-- Messages outside the dedupe window.
-- params: before_ms, limit
DELETE FROM pawl_dedupe
 WHERE (consumer, id) IN (SELECT consumer, id FROM pawl_dedupe WHERE seen_ms < ?1 ORDER BY seen_ms LIMIT ?2)

-- name: purge_history
-- Completed messages that were kept long enough.
-- params: before_ms, limit
DELETE FROM pawl_history
 WHERE (kind, seq) IN (SELECT kind, seq FROM pawl_history WHERE ended_ms < ?1 ORDER BY ended_ms LIMIT ?2)

-- name: purge_receptor
-- Old notes of receptors whose message has ended.
-- params: before_ms, limit
DELETE FROM pawl_receptor
 WHERE (event_id, receptor) IN (
       SELECT r.event_id, r.receptor FROM pawl_receptor r
        WHERE r.updated_ms < ?1
          AND NOT EXISTS (SELECT 1 FROM pawl_message m WHERE m.id = r.event_id)
          AND NOT EXISTS (SELECT 1 FROM pawl_aside a WHERE a.id = r.event_id)
          AND NOT EXISTS (SELECT 1 FROM pawl_dead d WHERE d.id = r.event_id)
        ORDER BY r.updated_ms LIMIT ?2)

-- name: purge_request
-- Request keys that are old.
-- params: before_ms, limit
DELETE FROM pawl_request WHERE key IN (SELECT key FROM pawl_request WHERE used_ms < ?1 ORDER BY used_ms LIMIT ?2)

-- name: purge_tombstone
-- Tombstones that are old.
-- params: before_ms, limit
DELETE FROM pawl_tombstone WHERE id IN (SELECT id FROM pawl_tombstone WHERE removed_ms < ?1 ORDER BY removed_ms LIMIT ?2)

-- name: view_history
-- A completed message as the views show it.
-- params: kind, lane, seq
SELECT seq, lane, {{message}},
       attempts, deaths, out_of_order, 0, 0, ended_ms, error, NULL, coalesce(stream, char(1) || seq)
  FROM pawl_history WHERE kind = ?1 AND lane = ?2 AND seq = ?3
