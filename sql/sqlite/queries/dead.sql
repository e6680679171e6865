-- dead: dead letters: dying, grouping, redriving, discarding.

-- name: aside_to_dead
-- Copy a message that is aside to the dead letters; its own row is deleted next.
-- params: kind, seq, reason, died_ms, fingerprint
INSERT INTO pawl_dead (kind, seq, lane, key, attempts, deaths, reason, died_ms, out_of_order, error, fingerprint,
                  {{message}})
SELECT kind, seq, lane, key, attempts, deaths, ?3, ?4, out_of_order, error, ?5,
       {{message}}
  FROM pawl_aside WHERE kind = ?1 AND seq = ?2

-- name: dead_delete
-- A dead letter goes.
-- params: kind, seq
DELETE FROM pawl_dead WHERE kind = ?1 AND seq = ?2

-- name: dead_edit
-- A dead letter gets another payload.
-- params: kind, seq, payload
UPDATE pawl_dead SET payload = ?3 WHERE kind = ?1 AND seq = ?2

-- name: dead_find
-- What redrive and discard need to know of a dead letter.
-- params: kind, seq
SELECT lane, key, reason, stream IS NOT NULL FROM pawl_dead WHERE kind = ?1 AND seq = ?2

-- name: dead_parked
-- The parked letters of a stream.
-- params: kind, key
SELECT seq FROM pawl_dead INDEXED BY pawl_dead_key WHERE kind = ?1 AND key = ?2 AND reason = :DEAD_PARKED ORDER BY seq

-- name: dead_to_aside
-- Copy a dead letter back; its own row is deleted next.
-- params: kind, seq, now_ms, out_of_order
INSERT INTO pawl_aside (kind, seq, lane, key, attempts, deaths, losses, reason, scheduled_ms, out_of_order, error,
                   {{message}})
SELECT kind, seq, lane, key, 0, 0, 0, 5, ?3, ?4, error,
       {{message}}
  FROM pawl_dead WHERE kind = ?1 AND seq = ?2

-- name: list_dead
-- Dead letters in order, and whether they fit a filter.
-- params: kind, lane (-1: any), after_seq, below_seq, stream, type, topic, before_ms (0: any)
SELECT seq, lane, (?2 = -1 OR lane = ?2) AND (?5 IS NULL OR stream = ?5) AND (?6 IS NULL OR type = ?6) AND (?7 IS NULL OR topic = ?7)
                  AND (?8 = 0 OR died_ms < ?8)
  FROM pawl_dead NOT INDEXED WHERE kind = ?1 AND seq > ?3 AND seq < ?4
 ORDER BY seq

-- name: list_dead_cause
-- Dead letters of one cause in order, and whether they fit a filter.
-- params: kind, lane (-1: any), after_seq, below_seq, stream, type, topic, before_ms (0: any), fingerprint
SELECT seq, lane, (?2 = -1 OR lane = ?2) AND (?5 IS NULL OR stream = ?5) AND (?6 IS NULL OR type = ?6) AND (?7 IS NULL OR topic = ?7)
                  AND (?8 = 0 OR died_ms < ?8)
  FROM pawl_dead INDEXED BY pawl_dead_first WHERE kind = ?1 AND fingerprint = ?9 AND seq > ?3 AND seq < ?4
 ORDER BY seq

-- name: list_dead_stream
-- Dead letters of one stream in order, and whether they fit a filter.
-- params: kind, lane (-1: any), after_seq, below_seq, stream, type, topic, before_ms (0: any)
SELECT seq, lane, (?2 = -1 OR lane = ?2) AND stream = ?5 AND (?6 IS NULL OR type = ?6) AND (?7 IS NULL OR topic = ?7)
                  AND (?8 = 0 OR died_ms < ?8)
  FROM pawl_dead INDEXED BY pawl_dead_key WHERE kind = ?1 AND key = ?5 AND seq > ?3 AND seq < ?4
 ORDER BY seq

-- name: message_to_dead
-- Copy a message to the dead letters; its own row is deleted next.
-- params: kind, lane, seq, attempts, deaths, reason, died_ms, error, fingerprint
INSERT INTO pawl_dead (kind, seq, lane, key, attempts, deaths, reason, died_ms, out_of_order, error, fingerprint,
                  {{message}})
SELECT kind, seq, lane, coalesce(stream, char(1) || seq), ?4, ?5, ?6, ?7, 0, ?8, ?9,
       {{message}}
  FROM pawl_message WHERE kind = ?1 AND lane = ?2 AND seq = ?3

-- name: view_dead
-- A dead letter as the views show it.
-- params: kind, lane, seq
SELECT seq, lane, {{message}},
       attempts, deaths, out_of_order, reason, 0, died_ms, error, fingerprint, key
  FROM pawl_dead WHERE kind = ?1 AND lane = ?2 AND seq = ?3

-- name: view_dead_groups
-- Dead letters by cause, the biggest group first.
-- params: kind, limit
-- returns: fingerprint, letters, first_ms, last_ms, the error of its first letter
WITH biggest (fingerprint, letters) AS MATERIALIZED (
    SELECT fingerprint, letters FROM pawl_dead_tally WHERE kind = ?1 ORDER BY letters DESC, fingerprint LIMIT ?2)
SELECT b.fingerprint, b.letters,
       (SELECT min(d.died_ms) FROM pawl_dead AS d WHERE d.kind = ?1 AND d.fingerprint = b.fingerprint),
       (SELECT max(d.died_ms) FROM pawl_dead AS d WHERE d.kind = ?1 AND d.fingerprint = b.fingerprint),
       (SELECT d.error FROM pawl_dead AS d INDEXED BY pawl_dead_first WHERE d.kind = ?1 AND d.fingerprint = b.fingerprint ORDER BY d.seq LIMIT 1)
  FROM biggest AS b ORDER BY b.letters DESC, b.fingerprint
