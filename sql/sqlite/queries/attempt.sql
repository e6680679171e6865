-- attempt: failed attempts of messages: who tried when, and why it failed.

-- name: attempt_note
-- Notes that an attempt of a message failed, which is aside or dead by now.
-- params: kind, seq, instance, began_ms, now_ms, lost: its worker is gone
INSERT INTO pawl_attempt (id, kind, number, outcome, started_ms, finished_ms, instance, error)
SELECT r.id, ?1, r.number, iif(?6, :RUN_LOST, r.outcome), ?4, ?5, ?3, iif(?6, NULL, r.error)
  FROM (SELECT id, attempts + deaths AS number, :RUN_FAILED AS outcome, error FROM pawl_aside WHERE kind = ?1 AND seq = ?2
         UNION ALL
        SELECT id, attempts + deaths, iif(reason = :DEAD_CANCELLED, :RUN_CANCELLED, :RUN_DEAD), error FROM pawl_dead WHERE kind = ?1 AND seq = ?2) AS r

-- name: attempt_trim
-- Keeps the last attempts of a message.
-- params: id
DELETE FROM pawl_attempt WHERE id = ?1
   AND n <= (SELECT o.n FROM pawl_attempt o WHERE o.id = ?1 ORDER BY o.n DESC LIMIT 1 OFFSET :MESSAGE_ATTEMPTS_KEPT)

-- name: attempt_forget
-- The attempts of a dead letter that is thrown away.
-- params: kind, seq
DELETE FROM pawl_attempt WHERE id = (SELECT id FROM pawl_dead WHERE kind = ?1 AND seq = ?2) AND kind = ?1

-- name: purge_attempt
-- Attempts of long ago.
-- params: before_ms, limit
DELETE FROM pawl_attempt WHERE n IN (SELECT n FROM pawl_attempt WHERE finished_ms < ?1 ORDER BY finished_ms LIMIT ?2)

-- name: view_attempts
-- The failed attempts of a message, the first one first.
-- params: id
SELECT kind, number, outcome, started_ms, finished_ms, instance, error FROM pawl_attempt WHERE id = ?1 ORDER BY n
