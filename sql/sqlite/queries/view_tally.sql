-- view_tally: the sums of a kind and what its lanes and claims say.
-- params: kind, now_ms
SELECT put, done, failed, dead, aside, stale, duplicate, redriven, discarded,
       (SELECT count(*) FROM pawl_lane WHERE kind = ?1 AND owner IS NULL),
       (SELECT count(*) FROM pawl_claim WHERE kind = ?1 AND state = 1),
       (SELECT count(*) FROM pawl_claim WHERE kind = ?1 AND state = 1 AND lease_until_ms <= ?2),
       (SELECT coalesce(sum(in_flight), 0) FROM pawl_claim WHERE kind = ?1 AND state = 1),
       (SELECT coalesce(sum(in_flight), 0) FROM pawl_claim WHERE kind = ?1 AND state = 1 AND source = 1),
       (SELECT coalesce(min((SELECT put_ms FROM pawl_message
                              WHERE pawl_message.kind = ?1 AND pawl_message.lane = pawl_lane.lane AND pawl_message.seq > pawl_lane.high
                              ORDER BY seq LIMIT 1)), 0)
          FROM pawl_lane WHERE kind = ?1),
       (SELECT coalesce(min((SELECT due_ms FROM pawl_hold
                              WHERE pawl_hold.kind = ?1 AND pawl_hold.lane = pawl_lane.lane AND state = 1 ORDER BY due_ms LIMIT 1)), 0)
          FROM pawl_lane WHERE kind = ?1)
  FROM pawl_tally WHERE kind = ?1
