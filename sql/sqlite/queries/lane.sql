-- lane: lanes and partitions: their owners, and rebalancing.

-- name: lane_count_owned
-- How many lanes an instance owns, draining ones included.
-- params: kind, owner
SELECT count(*) FROM pawl_lane WHERE kind = ?1 AND owner = ?2

-- name: lane_cursor
-- Every message up to high was read.
-- params: kind, lane, high
UPDATE pawl_lane SET high = ?3 WHERE kind = ?1 AND lane = ?2

-- name: lane_drain
-- The highest lanes of an owner start draining.
-- params: kind, owner, count
UPDATE pawl_lane SET draining = 1
 WHERE kind = ?1 AND lane IN (SELECT lane FROM pawl_lane WHERE kind = ?1 AND owner = ?2 AND draining = 0
                               ORDER BY lane DESC LIMIT ?3)

-- name: lane_free_all
-- Every lane of an owner becomes free.
-- params: owner
UPDATE pawl_lane SET owner = NULL, draining = 0 WHERE kind IN (:KIND_OUTBOX, :KIND_INBOX, :KIND_PERSPECTIVE) AND owner = ?1

-- name: lane_free_drained
-- Draining lanes of an owner without an active claim become free.
-- params: kind, owner
UPDATE pawl_lane SET owner = NULL, draining = 0
 WHERE kind = ?1 AND owner = ?2 AND draining = 1 AND NOT EXISTS (SELECT 1 FROM pawl_claim WHERE pawl_claim.kind = pawl_lane.kind AND pawl_claim.lane = pawl_lane.lane AND pawl_claim.state = :CLAIM_ACTIVE)

-- name: lane_free_idle
-- The highest lanes of an owner without an active claim become free.
-- params: kind, owner, count
UPDATE pawl_lane SET owner = NULL
 WHERE kind = ?1 AND lane IN (SELECT lane FROM pawl_lane
                               WHERE kind = ?1 AND owner = ?2 AND draining = 0 AND NOT EXISTS (SELECT 1 FROM pawl_claim WHERE pawl_claim.kind = pawl_lane.kind AND pawl_claim.lane = pawl_lane.lane AND pawl_claim.state = :CLAIM_ACTIVE)
                               ORDER BY lane DESC LIMIT ?3)

-- name: lane_free_list
-- The lowest lanes without an owner.
-- params: kind, count
SELECT lane FROM pawl_lane WHERE kind = ?1 AND owner IS NULL ORDER BY lane LIMIT ?2

-- name: lane_list_owned
-- The lanes an instance owns, draining ones included, ascending.
-- params: kind, owner
SELECT lane FROM pawl_lane WHERE kind = ?1 AND owner = ?2 ORDER BY lane

-- name: lane_lose_owner
-- A lane whose owner let a claim run out becomes free, unless it is the caller's.
-- params: kind, lane, caller
UPDATE pawl_lane SET owner = NULL, draining = 0 WHERE kind = ?1 AND lane = ?2 AND owner <> ?3

-- name: lane_owned
-- Whether a lane belongs to an instance.
-- params: kind, lane, owner
-- returns: 1 when it does
SELECT 1 FROM pawl_lane WHERE kind = ?1 AND lane = ?2 AND owner = ?3

-- name: lane_take
-- A free lane gets an owner.
-- params: kind, lane, owner, token
UPDATE pawl_lane SET owner = ?3, token = ?4, draining = 0, moves = moves + 1 WHERE kind = ?1 AND lane = ?2

-- name: lane_token
-- A grant is also written to its lane.
-- params: kind, lane, token
UPDATE pawl_lane SET token = ?3 WHERE kind = ?1 AND lane = ?2

-- name: lane_undrain
-- The lowest draining lanes of an owner stop draining.
-- params: kind, owner, count
UPDATE pawl_lane SET draining = 0
 WHERE kind = ?1 AND lane IN (SELECT lane FROM pawl_lane WHERE kind = ?1 AND owner = ?2 AND draining = 1
                               ORDER BY lane LIMIT ?3)

-- name: lane_visit
-- The next lanes to claim from, the one claimed longest ago first, and what may be found there.
-- params: kind, owner, after_token, until_token, now_ms, limit
-- returns: lane, token, high, has_message, has_due_hold, oldest_began_ms (NULL: no active claim), only_suspects
SELECT lane, token, high,
       EXISTS (SELECT 1 FROM pawl_message WHERE pawl_message.kind = ?1 AND pawl_message.lane = pawl_lane.lane AND pawl_message.seq > pawl_lane.high),
       EXISTS (SELECT 1 FROM pawl_hold WHERE pawl_hold.kind = ?1 AND pawl_hold.lane = pawl_lane.lane AND pawl_hold.state = :HOLD_WAITING AND pawl_hold.due_ms <= ?5),
       (SELECT min(began_ms) FROM pawl_claim WHERE pawl_claim.kind = ?1 AND pawl_claim.lane = pawl_lane.lane AND pawl_claim.state = :CLAIM_ACTIVE),
       NOT EXISTS (SELECT 1 FROM pawl_claim WHERE pawl_claim.kind = ?1 AND pawl_claim.lane = pawl_lane.lane AND pawl_claim.state = :CLAIM_ACTIVE AND suspect = :SUSPECT_NO)
  FROM pawl_lane
 WHERE kind = ?1 AND owner = ?2 AND token > ?3 AND token <= ?4 AND draining = 0
 ORDER BY token LIMIT ?6

-- name: view_lane
-- The instance that serves a lane.
-- params: kind, lane
SELECT owner, draining, (SELECT lease_until_ms FROM pawl_instance WHERE id = pawl_lane.owner AND state = :INSTANCE_ACTIVE)
  FROM pawl_lane WHERE kind = ?1 AND lane = ?2

-- name: view_lanes
-- Every lane of a kind.
-- params: kind
SELECT lane, owner, token, high, moves, draining,
       (SELECT count(*) FROM pawl_claim WHERE pawl_claim.kind = ?1 AND pawl_claim.lane = pawl_lane.lane AND pawl_claim.state = :CLAIM_ACTIVE),
       (SELECT count(*) FROM pawl_hold WHERE pawl_hold.kind = ?1 AND pawl_hold.lane = pawl_lane.lane)
  FROM pawl_lane WHERE kind = ?1 ORDER BY lane
