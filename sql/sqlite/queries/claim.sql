-- claim: claims of messages: granting, renewing, ending.

-- name: claim_alone
-- Whether an instance that does not state its slots runs a suspect; then it gets nothing else.
-- params: instance
SELECT 1 FROM pawl_instance i CROSS JOIN pawl_claim c INDEXED BY pawl_claim_lane
 WHERE i.id = ?1 AND i.slots = 0 AND c.state = :CLAIM_ACTIVE AND c.suspect = :SUSPECT_BEGUN AND c.instance = ?1 LIMIT 1

-- name: claim_forget
-- A claim part that one call completed whole needs its lists no more.
-- params: token, part
UPDATE pawl_claim SET state = :CLAIM_DONE, in_flight = 0, marks = NULL, items = NULL
 WHERE token = ?1 AND part = ?2

-- name: claim_slots_free
-- Whether an instance has fewer messages in flight than the slots it says it has.
-- params: instance
SELECT 1 FROM pawl_instance
 WHERE id = ?1 AND slots > (SELECT coalesce(sum(in_flight), 0) FROM pawl_claim
                             WHERE kind IN (:KIND_OUTBOX, :KIND_INBOX, :KIND_PERSPECTIVE) AND state = :CLAIM_ACTIVE AND instance = ?1)

-- name: claim_in_hand
-- How many suspects and how many lost messages an instance has in flight, the slots it says it has, and how
--   many claims it has, of all kinds and of other kinds than the one that it claims.
-- params: instance, kind
SELECT coalesce(sum(suspect > :SUSPECT_NO), 0), coalesce(sum(lost), 0), (SELECT slots FROM pawl_instance WHERE id = ?1),
       count(*), coalesce(sum(kind <> ?2), 0)
  FROM pawl_claim INDEXED BY pawl_claim_lane WHERE state = :CLAIM_ACTIVE AND instance = ?1

-- name: claim_insert
-- A new claim part.
-- params: token, part, kind, lane, instance, source, suspect, state, policy, max_attempts, began_ms, lease_until_ms,
--   in_flight, request, marks, items, lost
INSERT INTO pawl_claim (token, part, kind, lane, instance, source, suspect, state, policy, max_attempts, began_ms,
                   lease_until_ms, in_flight, request, marks, items, lost)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)

-- name: claim_instance
-- Whom a token was granted to.
-- params: token
SELECT instance FROM pawl_claim WHERE token = ?1 LIMIT 1

-- name: claim_mark
-- What a report changed in a claim part.
-- params: token, part, state, lease_until_ms, in_flight, marks, suspect
UPDATE pawl_claim SET state = ?3, lease_until_ms = ?4, in_flight = ?5, marks = ?6, suspect = ?7
 WHERE token = ?1 AND part = ?2

-- name: claim_of_instance
-- Active parts of an instance.
-- params: instance
SELECT token, part, lane FROM pawl_claim INDEXED BY pawl_claim_lane WHERE state = :CLAIM_ACTIVE AND instance = ?1 ORDER BY token, part

-- name: claim_of_lane
-- The active parts of a lane.
-- params: kind, lane
SELECT token, part, kind, lane, instance, source, suspect, state, policy, max_attempts, began_ms, lease_until_ms, request, marks, items
  FROM pawl_claim WHERE kind = ?1 AND lane = ?2 AND state = :CLAIM_ACTIVE ORDER BY token, part

-- name: claim_of_request
-- The active parts of a kind that were granted to an instance under a request key.
-- params: request, kind, instance
SELECT token, part, kind, lane, instance, source, suspect, state, policy, max_attempts, began_ms, lease_until_ms, request, marks, items
  FROM pawl_claim WHERE request = ?1 AND kind = ?2 AND instance = ?3 AND state = :CLAIM_ACTIVE ORDER BY token, part

-- name: claim_of_token
-- Every part of a token.
-- params: token
SELECT token, part, kind, lane, instance, source, suspect, state, policy, max_attempts, began_ms, lease_until_ms, request, marks, items
  FROM pawl_claim WHERE token = ?1 ORDER BY part

-- name: claim_overdue
-- Active parts of a kind whose lease has expired.
-- params: kind, now_ms
SELECT token, part, lane FROM pawl_claim WHERE kind = ?1 AND state = :CLAIM_ACTIVE AND lease_until_ms <= ?2 ORDER BY token, part

-- name: claim_overdue_own
-- Active parts of a kind whose lease has expired, on the lanes of one owner.
-- params: kind, now_ms, owner
SELECT token, part, lane FROM pawl_claim
 WHERE kind = ?1 AND state = :CLAIM_ACTIVE AND lease_until_ms <= ?2
   AND EXISTS (SELECT 1 FROM pawl_lane l WHERE l.kind = ?1 AND l.lane = pawl_claim.lane AND l.owner = ?3)
 ORDER BY token, part

-- name: request_delete
-- A request key that was used for nothing.
-- params: key
DELETE FROM pawl_request WHERE key = ?1

-- name: request_insert
-- Use a request key; no row is written when it was used before.
-- params: key, now_ms
INSERT OR IGNORE INTO pawl_request (key, used_ms) VALUES (?1, ?2)

-- name: request_job
-- The job that was enqueued under a request key.
-- params: key
SELECT job FROM pawl_request WHERE key = ?1

-- name: request_job_set
-- params: key, job
UPDATE pawl_request SET job = ?2 WHERE key = ?1

-- name: view_claims
-- Every active part.
SELECT token, part, kind, lane, instance, source, suspect, state, policy, max_attempts, began_ms, lease_until_ms, request, marks, items
  FROM pawl_claim INDEXED BY pawl_claim_lane WHERE state = :CLAIM_ACTIVE ORDER BY token, part
