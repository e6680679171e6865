-- lane: invariants of lanes, their owners and tokens.

-- name: claim_lane_match
-- The row of every item of an active claim part has the lane of the part.
SELECT 'token ' || item.token || ' is of lane ' || item.lane || ', its seq ' || item.seq || ' of lane ' || a.lane AS detail
  FROM pawl_claim_item AS item
  JOIN pawl_aside AS a ON a.kind = item.kind AND a.seq = item.seq
 WHERE item.source = :SOURCE_ASIDE AND a.lane <> item.lane

-- name: evicted_owns_nothing
-- An instance that is evicted or gone owns no lane and has no active claim.
SELECT 'lane ' || lane || ' of kind ' || kind || ' belongs to ' || lower(hex(owner)) AS detail
  FROM pawl_lane
 WHERE owner IS NOT NULL AND NOT EXISTS (SELECT 1 FROM pawl_instance WHERE id = pawl_lane.owner AND state = :INSTANCE_ACTIVE)
 UNION ALL
SELECT 'token ' || token || ' belongs to ' || lower(hex(instance))
  FROM pawl_claim
 WHERE state = :CLAIM_ACTIVE AND NOT EXISTS (SELECT 1 FROM pawl_instance AS i WHERE i.id = pawl_claim.instance AND i.state = :INSTANCE_ACTIVE)

-- name: lane_count_complete
-- Every kind has exactly the lanes 0 to lane_count - 1.
SELECT 'kind ' || work.column1 || ' has ' || (SELECT count(*) FROM pawl_lane WHERE pawl_lane.kind = work.column1) || ' lanes' AS detail
  FROM (VALUES (1), (2), (3)) AS work, pawl_settings
 WHERE (SELECT count(*) FROM pawl_lane WHERE pawl_lane.kind = work.column1 AND pawl_lane.lane BETWEEN 0 AND lane_count - 1) <> lane_count
    OR (SELECT count(*) FROM pawl_lane WHERE pawl_lane.kind = work.column1) <> lane_count

-- name: lane_owner_active
-- The owner of a lane is an active instance of its kind.
SELECT 'lane ' || lane || ' of kind ' || kind || ' is owned by ' || lower(hex(owner)) AS detail
  FROM pawl_lane
 WHERE owner IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM pawl_instance
                    WHERE pawl_instance.id = pawl_lane.owner AND pawl_instance.state = :INSTANCE_ACTIVE AND pawl_instance.kinds & (1 << pawl_lane.kind) <> 0)

-- name: partition_lane_match
-- Lane is partition mod lane_count, and the partition exists.
SELECT 'seq ' || seq || ' (kind ' || kind || ') of partition ' || partition || ' is in lane ' || lane AS detail
  FROM pawl_settings,
       (SELECT kind, seq, partition, lane FROM pawl_message
         UNION ALL SELECT kind, seq, partition, lane FROM pawl_aside
         UNION ALL SELECT kind, seq, partition, lane FROM pawl_dead)
 WHERE lane <> partition % lane_count OR partition NOT BETWEEN 0 AND partition_count - 1

-- name: token_below_counter
-- No token of a lane, claim or checkpoint is above the counter.
SELECT 'token ' || token || ' of ' || what || ' is above the counter' AS detail
  FROM pawl_settings,
       (SELECT token, 'lane ' || lane || ' of kind ' || kind AS what FROM pawl_lane
         UNION ALL SELECT token, 'a claim' FROM pawl_claim
         UNION ALL SELECT token, perspective || ' in ' || stream FROM pawl_checkpoint)
 WHERE token > epoch << 40 | last_token

-- name: wake_not_lost
-- If a completed checkpoint lags its stream, there is a message for the stream.
SELECT c.perspective || ' of ' || c.stream || ' is completed at ' || c.version || ', the stream is at ' || s.version ||
       ', and nothing says so' AS detail
  FROM pawl_checkpoint c JOIN pawl_stream s ON s.stream = c.stream JOIN pawl_perspective p ON p.key = c.perspective AND p.state IN (:PERSPECTIVE_LIVE, :PERSPECTIVE_FILLING)
 WHERE c.status = :CHECKPOINT_COMPLETED AND c.version < s.version
   AND NOT EXISTS (SELECT 1 FROM pawl_message m WHERE m.kind = :KIND_PERSPECTIVE AND m.stream = c.stream)
   AND NOT EXISTS (SELECT 1 FROM pawl_aside a WHERE a.kind = :KIND_PERSPECTIVE AND a.stream = c.stream)
   AND NOT EXISTS (SELECT 1 FROM pawl_dead d WHERE d.kind = :KIND_PERSPECTIVE AND d.stream = c.stream)
