-- in_flight_prefix: no earlier message of a stream in flight waits unclaimed behind the cursor.
WITH flying (kind, lane, seq) AS MATERIALIZED (SELECT kind, lane, seq FROM claim_item WHERE source = 1)
SELECT 'seq ' || waits.seq || ' (kind ' || waits.kind || ', stream ' || waits.stream || ') is not claimed, a later one is'
           AS detail
  FROM lane
  JOIN message AS waits ON waits.kind = lane.kind AND waits.lane = lane.lane AND waits.seq <= lane.high
 WHERE NOT EXISTS (SELECT 1 FROM flying
                    WHERE flying.kind = waits.kind AND flying.lane = waits.lane AND flying.seq = waits.seq)
   AND EXISTS (SELECT 1 FROM flying
                 JOIN message AS later
                   ON later.kind = flying.kind AND later.lane = flying.lane AND later.seq = flying.seq
                WHERE flying.kind = waits.kind AND flying.lane = waits.lane AND later.seq > waits.seq
                  AND later.stream = waits.stream)
