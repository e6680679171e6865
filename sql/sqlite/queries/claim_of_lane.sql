-- claim_of_lane: the active parts of a lane.
-- params: kind, lane
SELECT token, part, kind, lane, instance, source, suspect, state, policy, max_attempts, began_ms, lease_until_ms, request, marks, items
  FROM pawl_claim WHERE kind = ?1 AND lane = ?2 AND state = 1 ORDER BY token, part
