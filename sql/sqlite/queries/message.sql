-- message: putting and receiving messages, their lanes, and pauses.

-- name: dedupe_hash
-- The payload hash of a known message.
-- params: consumer, id
SELECT payload_hash FROM pawl_dedupe WHERE consumer = ?1 AND id = ?2

-- name: dedupe_insert
-- The first of its consumer and id wins.
-- params: consumer, id, payload_hash, now_ms
INSERT OR IGNORE INTO pawl_dedupe (consumer, id, payload_hash, seen_ms) VALUES (?1, ?2, ?3, ?4)

-- name: intake_delete
-- Rows that have become messages, or were refused.
-- params: number
DELETE FROM pawl_intake WHERE number <= ?1

-- name: intake_first
-- Whether an application has left anything.
SELECT number FROM pawl_intake ORDER BY number LIMIT 1

-- name: intake_next
-- The oldest rows that an application has left.
-- params: limit
-- returns: number, the ids, and a new message, in which ids are nil because they are text here
SELECT number, id, correlation_id, causation_id, {{intake}}
    FROM pawl_intake ORDER BY number LIMIT ?1

-- name: message_delete
-- One message goes.
-- params: kind, lane, seq
DELETE FROM pawl_message WHERE kind = ?1 AND lane = ?2 AND seq = ?3

-- name: message_delete_range
-- The messages of one claim go; between its first and its last there are no others.
-- params: kind, lane, first_seq, last_seq
DELETE FROM pawl_message WHERE kind = ?1 AND lane = ?2 AND seq BETWEEN ?3 AND ?4

-- name: message_get
-- One message.
-- params: kind, lane, seq
SELECT seq, {{message}}
  FROM pawl_message WHERE kind = ?1 AND lane = ?2 AND seq = ?3

-- name: message_insert
-- One new message.
-- params: kind, lane, seq, and the columns in their order
INSERT INTO pawl_message (kind, lane, seq, {{message}})
VALUES (?, ?, ?, {{each message: ?}})

-- name: message_keys
-- The stream keys of a range of messages.
-- params: kind, lane, first_seq, last_seq
SELECT seq, coalesce(stream, char(1) || seq)
  FROM pawl_message WHERE kind = ?1 AND lane = ?2 AND seq BETWEEN ?3 AND ?4 ORDER BY seq

-- name: message_read
-- The next messages of a lane after its cursor.
-- params: kind, lane, after_seq, limit
SELECT seq, {{message}}
  FROM pawl_message WHERE kind = ?1 AND lane = ?2 AND seq > ?3 ORDER BY seq LIMIT ?4

-- name: pause_count
-- How many pauses there are.
SELECT count(*) FROM pawl_pause

-- name: pause_delete
-- Resumes what was paused.
-- params: scope, name
DELETE FROM pawl_pause WHERE scope = ?1 AND name = ?2

-- name: pause_find
-- Who paused something, and why.
-- params: scope, name
SELECT actor, reason FROM pawl_pause WHERE scope = ?1 AND name = ?2

-- name: pause_fits
-- Whether a message waits for the resume of its topic or its stream; one that is cancelled does not.
-- params: topic, stream, id as text
SELECT 1 WHERE (EXISTS (SELECT 1 FROM pawl_pause WHERE scope = :PAUSE_TOPIC AND name = ?1)
                OR EXISTS (SELECT 1 FROM pawl_pause WHERE scope = :PAUSE_STREAM AND name = ?2))
           AND NOT EXISTS (SELECT 1 FROM pawl_pause WHERE scope = :PAUSE_MESSAGE AND name = ?3)

-- name: pause_handler
-- Whether a message waits for the resume of its handler; one that is cancelled does not.
-- params: handler, id as text
SELECT 1 WHERE EXISTS (SELECT 1 FROM pawl_pause WHERE scope = :PAUSE_HANDLER AND name = ?1)
           AND NOT EXISTS (SELECT 1 FROM pawl_pause WHERE scope = :PAUSE_MESSAGE AND name = ?2)

-- name: pause_insert
-- Pause a topic, a stream or a handler.
-- params: scope, name, reason, actor, now_ms
INSERT OR IGNORE INTO pawl_pause (scope, name, reason, actor, since_ms) VALUES (?1, ?2, ?3, ?4, ?5)

-- name: view_pauses
-- What is paused.
SELECT scope, name, reason, actor, since_ms FROM pawl_pause ORDER BY scope, name

-- name: pause_any
-- Whether any topic or stream is paused.
SELECT 1 FROM pawl_pause WHERE scope <= :PAUSE_STREAM LIMIT 1

-- name: pause_cancel
-- A message that is cancelled does not wait for a resume any longer.
-- params: id, now_ms, when something paused is due
UPDATE pawl_aside SET scheduled_ms = ?2 WHERE id = ?1 AND scheduled_ms = ?3

-- name: pause_resume
-- What was given back because of a pause is due at once.
-- params: scope, name, now_ms
UPDATE pawl_aside SET scheduled_ms = ?3
 WHERE reason = :ASIDE_RELEASED AND scheduled_ms > ?3
   AND (?1 = 3 OR (?1 = 1 AND coalesce(topic, type) = ?2) OR (?1 = 2 AND stream = ?2))

-- name: pause_resume_holds
-- Streams whose first message has become due wait no longer.
-- params: now_ms
UPDATE pawl_hold SET due_ms = (SELECT a.scheduled_ms FROM pawl_aside a INDEXED BY pawl_aside_key
                                WHERE a.kind = pawl_hold.kind AND a.key = pawl_hold.key ORDER BY a.seq LIMIT 1)
 WHERE state = :HOLD_WAITING AND due_ms > ?1

-- name: refused_delete
-- Forget a refused message.
-- params: number
DELETE FROM pawl_refused WHERE number = ?1

-- name: refused_insert
-- Keep what the inbox could not take, once per content.
-- params: reason, consumer, topic, message_id, detail, payload, payload_hash, now_ms
INSERT OR IGNORE INTO pawl_refused (reason, consumer, topic, message_id, detail, payload, payload_hash, received_ms)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)

-- name: view_refused
-- What came in and could not be taken.
-- params: after, limit
SELECT number, reason, consumer, topic, message_id, detail, payload, received_ms
  FROM pawl_refused WHERE number > ?1 ORDER BY number LIMIT ?2
