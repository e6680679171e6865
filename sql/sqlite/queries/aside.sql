-- aside: messages set aside for a retry, and the holds on their streams.

-- name: aside_delete
-- A message that was aside goes.
-- params: kind, seq
DELETE FROM pawl_aside WHERE kind = ?1 AND seq = ?2

-- name: aside_due
-- Held streams of a lane that are due, first come first.
-- params: kind, lane, now_ms
SELECT key, (SELECT min(seq) FROM pawl_aside WHERE pawl_aside.kind = ?1 AND pawl_aside.key = pawl_hold.key)
  FROM pawl_hold WHERE kind = ?1 AND lane = ?2 AND state = :HOLD_WAITING AND due_ms <= ?3
 ORDER BY due_ms, 2

-- name: aside_fail
-- A message that was aside failed again.
-- params: kind, seq, attempts, reason, scheduled_ms, error
UPDATE pawl_aside SET attempts = ?3, losses = 0, reason = ?4, scheduled_ms = ?5, error = ?6 WHERE kind = ?1 AND seq = ?2

-- name: aside_followers
-- The waiting messages of a stream after a seq.
-- params: kind, key, seq
SELECT seq FROM pawl_aside WHERE kind = ?1 AND key = ?2 AND seq > ?3 ORDER BY seq

-- name: aside_get
-- One message that is aside.
-- params: kind, seq
SELECT seq, {{message}},
       attempts, deaths, out_of_order, scheduled_ms, losses
  FROM pawl_aside WHERE kind = ?1 AND seq = ?2

-- name: aside_head
-- When the first message of a held stream is due.
-- params: kind, key
SELECT scheduled_ms FROM pawl_aside INDEXED BY pawl_aside_key WHERE kind = ?1 AND key = ?2 ORDER BY seq LIMIT 1

-- name: aside_key
-- The stream key of a message that is aside.
-- params: kind, seq
SELECT key FROM pawl_aside WHERE kind = ?1 AND seq = ?2

-- name: aside_read
-- The messages of a held stream in order.
-- params: kind, key, limit
SELECT seq, {{message}},
       attempts, deaths, out_of_order, scheduled_ms, losses
  FROM pawl_aside INDEXED BY pawl_aside_key WHERE kind = ?1 AND key = ?2 ORDER BY seq LIMIT ?3

-- name: aside_return
-- Gives a message aside back without counting an attempt.
-- params: kind, seq, deaths added, reason, scheduled_ms, losses: 0 as it is, 1 lost once more, 2 a suspect
UPDATE pawl_aside SET deaths = deaths + ?3, losses = CASE WHEN ?6 = 0 THEN losses WHEN losses > 0 THEN 2 ELSE ?6 END,
       reason = ?4, scheduled_ms = ?5 WHERE kind = ?1 AND seq = ?2

-- name: aside_state
-- How often a message failed.
-- params: kind, seq
SELECT attempts, deaths, error FROM pawl_aside WHERE kind = ?1 AND seq = ?2

-- name: aside_to_history
-- Copy a completed message to the history; its own row is deleted next.
-- params: kind, seq, now_ms
INSERT INTO pawl_history (kind, seq, lane, ended_ms, attempts, deaths, out_of_order, error,
                     {{message}})
SELECT kind, seq, lane, ?3, attempts, deaths, out_of_order, error,
       {{message}}
  FROM pawl_aside WHERE kind = ?1 AND seq = ?2

-- name: hold_any
-- Whether a lane holds any stream.
-- params: kind, lane
SELECT 1 FROM pawl_hold WHERE kind = ?1 AND lane = ?2 LIMIT 1

-- name: hold_delete
-- Releases a stream.
-- params: kind, key
DELETE FROM pawl_hold WHERE kind = ?1 AND key = ?2

-- name: hold_find
-- Whether a stream is held, and how.
-- params: kind, key
SELECT state, by_seq, due_ms FROM pawl_hold WHERE kind = ?1 AND key = ?2

-- name: hold_put
-- Hold a stream; an existing hold is overwritten.
-- params: kind, key, lane, due_ms, state, by_seq
INSERT INTO pawl_hold (kind, key, lane, due_ms, state, by_seq) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    ON CONFLICT (kind, key) DO UPDATE SET due_ms = ?4, state = ?5, by_seq = ?6

-- name: list_aside
-- Messages that are aside in order, whether they fit a filter, and whether they come first in a stream that waits.
-- params: kind, lane (-1: any), after_seq, below_seq, stream, type, topic
SELECT seq, lane, (?2 = -1 OR lane = ?2) AND (?5 IS NULL OR stream = ?5) AND (?6 IS NULL OR type = ?6) AND (?7 IS NULL OR topic = ?7),
       seq = (SELECT min(first.seq) FROM pawl_aside AS first WHERE first.kind = pawl_aside.kind AND first.key = pawl_aside.key)
       AND EXISTS (SELECT 1 FROM pawl_hold WHERE pawl_hold.kind = pawl_aside.kind AND pawl_hold.key = pawl_aside.key AND pawl_hold.state = :HOLD_WAITING)
  FROM pawl_aside WHERE kind = ?1 AND seq > ?3 AND seq < ?4
 ORDER BY seq

-- name: list_aside_stream
-- Messages of one stream that are aside in order, whether they fit a filter, and whether they come first and it waits.
-- params: kind, lane (-1: any), after_seq, below_seq, stream, type, topic
SELECT seq, lane, (?2 = -1 OR lane = ?2) AND stream = ?5 AND (?6 IS NULL OR type = ?6) AND (?7 IS NULL OR topic = ?7),
       seq = (SELECT min(first.seq) FROM pawl_aside AS first WHERE first.kind = pawl_aside.kind AND first.key = pawl_aside.key)
       AND EXISTS (SELECT 1 FROM pawl_hold WHERE pawl_hold.kind = pawl_aside.kind AND pawl_hold.key = pawl_aside.key AND pawl_hold.state = :HOLD_WAITING)
  FROM pawl_aside INDEXED BY pawl_aside_key WHERE kind = ?1 AND key = ?5 AND seq > ?3 AND seq < ?4
 ORDER BY seq

-- name: message_to_aside
-- Copy a message aside; its own row is deleted next.
-- params: kind, lane, seq, attempts, deaths, reason, scheduled_ms, error, losses
INSERT INTO pawl_aside (kind, seq, lane, key, attempts, deaths, losses, reason, scheduled_ms, out_of_order, error,
                   {{message}})
SELECT kind, seq, lane, coalesce(stream, char(1) || seq), ?4, ?5, ?9, ?6, ?7, 0, ?8,
       {{message}}
  FROM pawl_message WHERE kind = ?1 AND lane = ?2 AND seq = ?3

-- name: view_aside
-- A message that is aside as the views show it.
-- params: kind, lane, seq
SELECT seq, lane, {{message}},
       attempts, deaths, out_of_order, reason, scheduled_ms, 0, error, NULL, key, losses
  FROM pawl_aside WHERE kind = ?1 AND lane = ?2 AND seq = ?3
