-- view_lane: who serves a lane.
-- params: kind, lane
SELECT owner, draining, (SELECT lease_until_ms FROM instance WHERE id = lane.owner AND state = 1)
  FROM lane WHERE kind = ?1 AND lane = ?2
