-- in_flight_prefix: no earlier message of a stream in flight waits unclaimed behind the cursor.
WITH flying (kind, lane, seq) AS MATERIALIZED (SELECT kind, lane, seq FROM pawl_claim_item WHERE source = 1)
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
