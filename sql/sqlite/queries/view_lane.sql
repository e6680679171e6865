-- view_lane: who serves a lane.
-- params: kind, lane
SELECT owner, draining, (SELECT lease_until_ms FROM pawl_instance WHERE id = pawl_lane.owner AND state = 1)
  FROM pawl_lane WHERE kind = ?1 AND lane = ?2
