-- stream_in_one_token: the items of a stream that are in flight are all under one token.
SELECT 'stream ' || stream || ' (kind ' || kind || ') is in flight under ' || count(DISTINCT token) || ' tokens' AS detail
  FROM (SELECT item.kind, item.token, m.stream
          FROM pawl_claim_item AS item
          JOIN pawl_message AS m ON m.kind = item.kind AND m.lane = item.lane AND m.seq = item.seq AND item.source = 1
         UNION ALL
        SELECT item.kind, item.token, a.stream
          FROM pawl_claim_item AS item
          JOIN pawl_aside AS a ON a.kind = item.kind AND a.seq = item.seq AND item.source = 2)
 WHERE stream IS NOT NULL
 GROUP BY kind, stream HAVING count(DISTINCT token) > 1
