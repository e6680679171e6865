-- view: queries for operators: messages, counts, and why a message waits.

-- name: list_message
-- Messages of a lane in order, and whether they fit a filter.
-- params: kind, lane, after_seq, below_seq, stream, type, topic
SELECT seq, lane, (?5 IS NULL OR stream = ?5) AND (?6 IS NULL OR type = ?6) AND (?7 IS NULL OR topic = ?7)
  FROM pawl_message WHERE kind = ?1 AND lane = ?2 AND seq > ?3 AND seq < ?4
 ORDER BY seq

-- name: rollup_add
-- Adds to one cell: measure, kind, result, bucket, count, sum.
INSERT INTO pawl_rollup (measure, kind, result, bucket, count, sum) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (measure, kind, result, bucket) DO UPDATE SET count = count + ?5, sum = sum + ?6

-- name: tally_add
-- Add what one operation did.
-- params: what it did, in the order of the columns; kind
UPDATE pawl_tally SET {{each tally: @ = @ + ?}} WHERE kind = ?

-- name: view_by_id
-- Where every message with an id is.
-- params: id
-- returns: place (1 message, 2 aside, 3 dead, 4 history), kind, lane, seq
SELECT 1, m.kind, m.lane, m.seq FROM pawl_lane l CROSS JOIN pawl_message m ON m.lane = l.lane AND m.id = ?1 WHERE l.kind = :KIND_OUTBOX
 UNION ALL SELECT 2, kind, lane, seq FROM pawl_aside WHERE id = ?1
 UNION ALL SELECT 3, kind, lane, seq FROM pawl_dead WHERE id = ?1
 UNION ALL SELECT 4, kind, lane, seq FROM pawl_history WHERE id = ?1
 ORDER BY 4

-- name: view_first_of_stream
-- The first unfinished message of a stream, of those before a seq.
-- params: kind, key, lane, seq
-- returns: seq (NULL: none), and whether more messages of the lane are before it than were examined (PAWL_WHY_AHEAD)
SELECT min(seq),
       EXISTS (SELECT 1 FROM pawl_message WHERE kind = ?1 AND lane = ?3 AND seq < ?4 ORDER BY seq LIMIT 1 OFFSET 10000)
  FROM (SELECT min(seq) AS seq FROM pawl_aside WHERE kind = ?1 AND key = ?2
         UNION ALL
        SELECT * FROM (SELECT seq FROM (SELECT seq, stream FROM pawl_message
                                         WHERE kind = ?1 AND lane = ?3 AND seq < ?4 ORDER BY seq LIMIT 10000)
                        WHERE stream = ?2 LIMIT 1))

-- name: view_ids
-- Ids of messages in a range, in any state.
-- params: lowest id, highest id, limit
-- returns: id, each once, ascending
-- Waiting messages are indexed lane by lane: the next id is the least of the lanes' next ones.
WITH RECURSIVE waiting (id) AS (
    SELECT min((SELECT m.id FROM pawl_message m WHERE m.lane = l.lane AND m.id >= ?1 AND m.id <= ?2 ORDER BY m.id LIMIT 1))
      FROM pawl_lane l WHERE l.kind = :KIND_OUTBOX
     UNION ALL
    SELECT (SELECT min((SELECT m.id FROM pawl_message m
                         WHERE m.lane = l.lane AND m.id > w.id AND m.id <= ?2 ORDER BY m.id LIMIT 1))
              FROM pawl_lane l WHERE l.kind = :KIND_OUTBOX)
      FROM waiting w WHERE w.id IS NOT NULL LIMIT ?3)
SELECT id FROM waiting WHERE id IS NOT NULL
 UNION SELECT id FROM (SELECT DISTINCT id FROM pawl_aside WHERE id >= ?1 AND id <= ?2 ORDER BY id LIMIT ?3)
 UNION SELECT id FROM (SELECT DISTINCT id FROM pawl_dead WHERE id >= ?1 AND id <= ?2 ORDER BY id LIMIT ?3)
 UNION SELECT id FROM (SELECT DISTINCT id FROM pawl_history WHERE id >= ?1 AND id <= ?2 ORDER BY id LIMIT ?3)
 ORDER BY 1 LIMIT ?3

-- name: view_message
-- A waiting or claimed message as the views show it.
-- params: kind, lane, seq
SELECT seq, lane, {{message}},
       0, 0, 0, 0, 0, 0, NULL, NULL, coalesce(stream, char(1) || seq)
  FROM pawl_message WHERE kind = ?1 AND lane = ?2 AND seq = ?3

-- name: view_rollups
-- What all workers have counted, by cell.
SELECT measure, kind, result, bucket, count, sum FROM pawl_rollup ORDER BY measure, kind, result, bucket

-- name: view_tally
-- The sums of a kind and what its lanes and claims say.
-- params: kind, now_ms
SELECT {{tally}},
       (SELECT count(*) FROM pawl_lane WHERE kind = ?1 AND owner IS NULL),
       (SELECT count(*) FROM pawl_claim WHERE kind = ?1 AND state = :CLAIM_ACTIVE),
       (SELECT count(*) FROM pawl_claim WHERE kind = ?1 AND state = :CLAIM_ACTIVE AND lease_until_ms <= ?2),
       (SELECT coalesce(sum(in_flight), 0) FROM pawl_claim WHERE kind = ?1 AND state = :CLAIM_ACTIVE),
       (SELECT coalesce(min((SELECT put_ms FROM pawl_message
                              WHERE pawl_message.kind = ?1 AND pawl_message.lane = pawl_lane.lane AND pawl_message.seq > pawl_lane.high
                              ORDER BY seq LIMIT 1)), 0)
          FROM pawl_lane WHERE kind = ?1),
       (SELECT coalesce(min((SELECT due_ms FROM pawl_hold
                              WHERE pawl_hold.kind = ?1 AND pawl_hold.lane = pawl_lane.lane AND state = :HOLD_WAITING ORDER BY due_ms LIMIT 1)), 0)
          FROM pawl_lane WHERE kind = ?1),
       (SELECT coalesce(sum(in_flight), 0) FROM pawl_claim WHERE kind = ?1 AND state = :CLAIM_ACTIVE AND source = :SOURCE_MESSAGE)
  FROM pawl_tally WHERE kind = ?1
