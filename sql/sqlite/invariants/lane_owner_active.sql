-- lane_owner_active: the owner of a lane is an active instance of its kind.
SELECT 'lane ' || lane || ' of kind ' || kind || ' is owned by ' || lower(hex(owner)) AS detail
  FROM pawl_lane
 WHERE owner IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM pawl_instance
                    WHERE pawl_instance.id = pawl_lane.owner AND pawl_instance.state = 1 AND pawl_instance.kinds & (1 << pawl_lane.kind) <> 0)
