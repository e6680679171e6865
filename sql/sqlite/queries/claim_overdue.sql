-- claim_overdue: active parts of a kind whose lease is over.
-- params: kind, now_ms
SELECT token, part, lane FROM pawl_claim WHERE kind = ?1 AND state = 1 AND lease_until_ms <= ?2 ORDER BY token, part
