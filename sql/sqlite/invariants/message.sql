-- message: invariants of messages, claims, holds and dead letters.

-- name: aside_has_hold
-- Every aside row has the hold of its key, in the same lane.
SELECT 'seq ' || seq || ' (kind ' || kind || ') is aside without a hold' AS detail
  FROM pawl_aside
 WHERE NOT EXISTS (SELECT 1 FROM pawl_hold
                    WHERE pawl_hold.kind = pawl_aside.kind AND pawl_hold.key = pawl_aside.key AND pawl_hold.lane = pawl_aside.lane)

-- name: behind_cursor_claimed
-- A message at or below the cursor of its lane is in an active claim.
WITH flying (kind, lane, seq) AS MATERIALIZED (SELECT kind, lane, seq FROM pawl_claim_item WHERE source = :SOURCE_MESSAGE)
SELECT 'seq ' || m.seq || ' (kind ' || m.kind || ', lane ' || m.lane || ') was read and is not claimed' AS detail
  FROM pawl_lane
  JOIN pawl_message AS m ON m.kind = pawl_lane.kind AND m.lane = pawl_lane.lane AND m.seq <= pawl_lane.high
 WHERE NOT EXISTS (SELECT 1 FROM flying WHERE flying.kind = m.kind AND flying.lane = m.lane AND flying.seq = m.seq)

-- name: claim_item_exists
-- Every item of an active claim part has its row in the table of its source.
SELECT 'token ' || token || ' holds seq ' || seq || ' of kind ' || kind || ', which has no row' AS detail
  FROM pawl_claim_item AS item
 WHERE NOT EXISTS (SELECT 1 FROM pawl_message AS m
                    WHERE item.source = :SOURCE_MESSAGE AND m.kind = item.kind AND m.lane = item.lane AND m.seq = item.seq)
   AND NOT EXISTS (SELECT 1 FROM pawl_aside AS a WHERE item.source = :SOURCE_ASIDE AND a.kind = item.kind AND a.seq = item.seq)

-- name: claim_not_empty
-- An active claim part has an item, and knows how many.
SELECT 'token ' || token || ' part ' || part || ' is active and says it has ' || in_flight AS detail
  FROM pawl_claim
 WHERE state = :CLAIM_ACTIVE
   AND (in_flight < 1
        OR in_flight <> (SELECT count(*) FROM pawl_claim_item AS i WHERE i.token = pawl_claim.token AND i.part = pawl_claim.part))

-- name: claimed_once
-- No message is an item of two active claim parts, or twice in one.
SELECT 'kind ' || kind || ' seq ' || seq || ' is claimed ' || count(*) || ' times' AS detail
  FROM pawl_claim_item GROUP BY kind, seq HAVING count(*) > 1

-- name: dead_tally_matches
-- The numbers of dead letters per cause are those of the rows; kind 4: jobs.
WITH counted (kind, fingerprint, n) AS (
    SELECT kind, fingerprint, count(*) FROM pawl_dead WHERE fingerprint IS NOT NULL GROUP BY kind, fingerprint
     UNION ALL
    SELECT 4, fingerprint, count(*) FROM pawl_job WHERE state = :JOB_DEAD GROUP BY fingerprint)
SELECT 'kind ' || kind || ', ' || fingerprint || ': ' || group_concat(n, ' and ') AS detail
  FROM (SELECT kind, fingerprint, n FROM counted UNION ALL SELECT kind, fingerprint, -letters FROM pawl_dead_tally)
 GROUP BY kind, fingerprint HAVING sum(n) <> 0

-- name: hold_due_matches_head
-- A waiting hold is due with its first aside row; a blocked or parked one has no time.
SELECT 'hold of ' || key || ' (kind ' || kind || ', state ' || state || ') is due ' || due_ms AS detail
  FROM pawl_hold
 WHERE due_ms <> CASE state
                 WHEN 1 THEN coalesce((SELECT scheduled_ms FROM pawl_aside
                                        WHERE pawl_aside.kind = pawl_hold.kind AND pawl_aside.key = pawl_hold.key
                                        ORDER BY seq LIMIT 1), due_ms)
                 ELSE 0 END

-- name: hold_has_aside_or_block
-- A waiting hold has something aside; a blocked or parked one has its dead letter.
SELECT 'hold of ' || key || ' (kind ' || kind || ', state ' || state || ') waits for nothing' AS detail
  FROM pawl_hold
 WHERE (state = :HOLD_WAITING AND NOT EXISTS (SELECT 1 FROM pawl_aside WHERE pawl_aside.kind = pawl_hold.kind AND pawl_aside.key = pawl_hold.key))
    OR (state <> :HOLD_WAITING AND NOT EXISTS (SELECT 1 FROM pawl_dead WHERE pawl_dead.kind = pawl_hold.kind AND pawl_dead.seq = pawl_hold.by_seq))

-- name: in_flight_prefix
-- No earlier message of a stream in flight waits unclaimed after the cursor.
WITH flying (kind, lane, seq) AS MATERIALIZED (SELECT kind, lane, seq FROM pawl_claim_item WHERE source = :SOURCE_MESSAGE)
SELECT 'seq ' || waits.seq || ' (kind ' || waits.kind || ', stream ' || waits.stream || ') is not claimed, a later one is'
           AS detail
  FROM pawl_lane
  JOIN pawl_message AS waits ON waits.kind = pawl_lane.kind AND waits.lane = pawl_lane.lane AND waits.seq <= pawl_lane.high
 WHERE NOT EXISTS (SELECT 1 FROM flying
                    WHERE flying.kind = waits.kind AND flying.lane = waits.lane AND flying.seq = waits.seq)
   AND EXISTS (SELECT 1 FROM flying
                 JOIN pawl_message AS later
                   ON later.kind = flying.kind AND later.lane = flying.lane AND later.seq = flying.seq
                WHERE flying.kind = waits.kind AND flying.lane = waits.lane AND later.seq > waits.seq
                  AND later.stream = waits.stream)

-- name: message_once
-- A message is in at most one of message, aside, dead and history.
SELECT 'kind ' || kind || ' seq ' || seq || ' is in ' || count(*) || ' tables' AS detail
  FROM (SELECT kind, seq FROM pawl_message
         UNION ALL SELECT kind, seq FROM pawl_aside
         UNION ALL SELECT kind, seq FROM pawl_dead
         UNION ALL SELECT kind, seq FROM pawl_history)
 GROUP BY kind, seq HAVING count(*) > 1

-- name: seq_unique
-- A seq is used by one kind only.
SELECT 'seq ' || seq || ' is used by ' || count(DISTINCT kind) || ' kinds' AS detail
  FROM (SELECT kind, seq FROM pawl_message
         UNION ALL SELECT kind, seq FROM pawl_aside
         UNION ALL SELECT kind, seq FROM pawl_dead
         UNION ALL SELECT kind, seq FROM pawl_history)
 GROUP BY seq HAVING count(DISTINCT kind) > 1

-- name: stream_in_one_token
-- The items of a stream that are in flight are all under one token.
SELECT 'stream ' || stream || ' (kind ' || kind || ') is in flight under ' || count(DISTINCT token) || ' tokens' AS detail
  FROM (SELECT item.kind, item.token, m.stream
          FROM pawl_claim_item AS item
          JOIN pawl_message AS m ON m.kind = item.kind AND m.lane = item.lane AND m.seq = item.seq AND item.source = :SOURCE_MESSAGE
         UNION ALL
        SELECT item.kind, item.token, a.stream
          FROM pawl_claim_item AS item
          JOIN pawl_aside AS a ON a.kind = item.kind AND a.seq = item.seq AND item.source = :SOURCE_ASIDE)
 WHERE stream IS NOT NULL
 GROUP BY kind, stream HAVING count(DISTINCT token) > 1

-- name: suspect_alone
-- A suspect is claimed alone, from aside, after a loss, once per instance.
SELECT 'token ' || token || ' is not one suspect alone' AS detail
  FROM pawl_claim
 WHERE state = :CLAIM_ACTIVE AND suspect > :SUSPECT_NO
   AND (in_flight <> 1 OR source <> :SOURCE_ASIDE
        OR NOT EXISTS (SELECT 1 FROM pawl_claim_item AS item
                         JOIN pawl_aside AS a ON a.kind = item.kind AND a.seq = item.seq AND a.losses >= 2
                        WHERE item.token = pawl_claim.token AND item.part = pawl_claim.part))
 UNION ALL
SELECT 'instance ' || lower(hex(instance)) || ' has ' || count(*) || ' suspects'
  FROM pawl_claim WHERE state = :CLAIM_ACTIVE AND suspect > :SUSPECT_NO GROUP BY instance HAVING count(*) > 1

-- name: tally_matches_tables
-- The sums of a kind agree with its tables.
SELECT 'kind ' || kind || ': aside ' || aside || ', dead ' || dead || ', waiting '
           || (put - done - aside - dead - discarded) AS detail
  FROM pawl_tally
 WHERE aside <> (SELECT count(*) FROM pawl_aside AS a WHERE a.kind = pawl_tally.kind)
    OR dead <> (SELECT count(*) FROM pawl_dead AS d WHERE d.kind = pawl_tally.kind)
    OR put - done - aside - dead - discarded <> (SELECT count(*) FROM pawl_message AS m WHERE m.kind = pawl_tally.kind)
