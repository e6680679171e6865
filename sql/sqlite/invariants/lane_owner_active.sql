-- lane_owner_active: the owner of a lane is an active instance of its kind.
SELECT 'lane ' || lane || ' of kind ' || kind || ' is owned by ' || lower(hex(owner)) AS detail
  FROM lane
 WHERE owner IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM instance
                    WHERE instance.id = lane.owner AND instance.state = 1 AND instance.kinds & (1 << lane.kind) <> 0)
