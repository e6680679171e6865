-- claim_of_token: every part of a token.
-- params: token
SELECT token, part, kind, lane, instance, source, suspect, state, policy, max_attempts, began_ms, lease_until_ms, request, marks, items
  FROM pawl_claim WHERE token = ?1 ORDER BY part
