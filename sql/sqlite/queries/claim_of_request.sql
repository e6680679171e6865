-- claim_of_request: the active parts of a kind that were granted to an instance under a request key.
-- params: request, kind, instance
SELECT token, part, kind, lane, instance, source, suspect, state, policy, max_attempts, began_ms, lease_until_ms, request, marks, items
  FROM pawl_claim WHERE request = ?1 AND kind = ?2 AND instance = ?3 AND state = 1 ORDER BY token, part
