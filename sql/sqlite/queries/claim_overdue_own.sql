-- claim_overdue_own: active parts of a kind whose lease is over, on the lanes of one owner.
-- params: kind, now_ms, owner
SELECT token, part, lane FROM pawl_claim
 WHERE kind = ?1 AND state = 1 AND lease_until_ms <= ?2
   AND EXISTS (SELECT 1 FROM pawl_lane l WHERE l.kind = ?1 AND l.lane = pawl_claim.lane AND l.owner = ?3)
 ORDER BY token, part
