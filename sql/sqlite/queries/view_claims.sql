-- view_claims: every active part.
SELECT token, part, kind, lane, instance, source, suspect, state, policy, max_attempts, began_ms, lease_until_ms, request, marks, items
  FROM pawl_claim INDEXED BY pawl_claim_lane WHERE state = 1 ORDER BY token, part
