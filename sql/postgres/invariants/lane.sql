-- lane: invariants of lanes, their owners and tokens.

-- name: claim_lane_match
-- The row of every item of an active claim part has the kind and lane of the part.
SELECT pg_catalog.format('seq %s is in lane %s, its claim (token %s) in lane %s', i.seq, v.lane, i.token, i.lane)
  FROM (SELECT c.kind, c.lane, c.token, c.part, c.source, c.suspect, c.instance, s.seq
  FROM pawl_internal.claim c CROSS JOIN LATERAL pg_catalog.unnest(pawl_internal.claim_seqs(c)) AS s(seq) WHERE c.state = :CLAIM_ACTIVE) i
  JOIN (SELECT m.kind, m.seq, m.lane FROM pawl_internal.live_message m UNION ALL SELECT a.kind, a.seq, a.lane FROM pawl_internal.aside a) v
    ON v.seq = i.seq
 WHERE v.lane <> i.lane OR v.kind <> i.kind

-- name: evicted_owns_nothing
-- An instance that is evicted or has no row owns no lane and has no active claim part, except what a
-- transaction held when it was evicted.
SELECT pg_catalog.format('%s %s of kind %s belongs to %s, which is not active', o.what, o.number, o.kind, o.instance)
  FROM (SELECT 'lane' AS what, l.lane::bigint AS number, l.kind, l.owner AS instance FROM pawl_internal.lane l WHERE l.owner IS NOT NULL
         UNION ALL
        SELECT 'token', c.token, c.kind, c.instance FROM pawl_internal.claim c WHERE c.state = :CLAIM_ACTIVE) o
 WHERE NOT EXISTS (SELECT 1 FROM pawl_internal.instance i WHERE i.id = o.instance AND (i.state = :INSTANCE_ACTIVE OR i.leftovers))

-- name: lane_count_complete
-- Every kind has exactly the lanes 0 … lane_count - 1.
SELECT pg_catalog.format('kind %s has %s lanes from %s to %s instead of %s', k.kind, count(l.lane), min(l.lane), max(l.lane), s.lane_count)
  FROM pg_catalog.generate_series(1, 3) AS k(kind) CROSS JOIN pawl_internal.settings s LEFT JOIN pawl_internal.lane l ON l.kind = k.kind
 GROUP BY k.kind, s.lane_count
HAVING count(l.lane) <> s.lane_count OR min(l.lane) <> 0 OR max(l.lane) <> s.lane_count - 1

-- name: lane_owner_active
-- The owner of a lane is an active instance whose kinds contain the lane's kind; a free lane is not
-- given up.
SELECT pg_catalog.format('kind %s lane %s is owned by %s', l.kind, l.lane, coalesce(l.owner::text, 'no instance, and draining'))
  FROM pawl_internal.lane l
 WHERE (l.owner IS NOT NULL OR l.draining)
   AND NOT EXISTS (SELECT 1 FROM pawl_internal.instance i WHERE i.id = l.owner AND i.state = :INSTANCE_ACTIVE AND (i.kinds >> l.kind) & 1 = 1)

-- name: partition_lane_match
-- Lane = partition mod lane_count, and the partition is in range.
SELECT pg_catalog.format('seq %s has partition %s and lane %s', r.seq, r.partition, r.lane)
  FROM (SELECT m.seq, m.partition, m.lane FROM pawl_internal.message m
         UNION ALL SELECT a.seq, a.partition, a.lane FROM pawl_internal.aside a
         UNION ALL SELECT d.seq, d.partition, d.lane FROM pawl_internal.dead d) r
 CROSS JOIN pawl_internal.settings s
 WHERE r.lane <> r.partition % s.lane_count OR r.partition < 0 OR r.partition >= s.partition_count

-- name: token_below_counter
-- No token of a lane, claim or checkpoint is above epoch << 40 | counter.
SELECT pg_catalog.format('token %s is above %s', t.token, (s.epoch << 40) | q.last_value)
  FROM (SELECT l.token FROM pawl_internal.lane l UNION ALL SELECT c.token FROM pawl_internal.claim c UNION ALL SELECT k.token FROM pawl_internal.checkpoint k) t
 CROSS JOIN pawl_internal.settings s CROSS JOIN pawl_internal.token_seq q
 WHERE t.token > ((s.epoch << 40) | q.last_value)

-- name: wake_not_lost
-- If a completed checkpoint lags its stream, there is a message for the stream.
SELECT pg_catalog.format('%s of %s is completed at %s, the stream is at %s, and nothing says so', c.perspective, c.stream, c.version, s.version)
  FROM pawl_internal.checkpoint c JOIN pawl_internal.stream s ON s.stream = c.stream
  JOIN pawl_internal.perspective p ON p.key = c.perspective AND p.state IN (:PERSPECTIVE_LIVE, :PERSPECTIVE_FILLING)
 WHERE c.status = :CHECKPOINT_COMPLETED AND c.version < s.version
   AND NOT EXISTS (SELECT 1 FROM pawl_internal.live_message m WHERE m.kind = :KIND_PERSPECTIVE AND m.stream = c.stream)
   AND NOT EXISTS (SELECT 1 FROM pawl_internal.aside a WHERE a.kind = :KIND_PERSPECTIVE AND a.stream = c.stream)
   AND NOT EXISTS (SELECT 1 FROM pawl_internal.dead d WHERE d.kind = :KIND_PERSPECTIVE AND d.stream = c.stream)
