-- claim: claims of messages: granting, renewing, ending.
-- calls: complete, fail, finish, release, renew

-- name: claim
SELECT i.token, i.lease_until_ms, i.seq, {{i.message}}, i.attempt, i.deaths,
       i.out_of_order, i.suspect
  FROM pawl_internal.claim($1, $2, $3, $4, $5, $6, $7) i

-- name: claim_lane
SELECT i.token, i.lease_until_ms, i.seq, {{i.message}}, i.attempt, i.deaths,
       i.out_of_order, i.suspect
  FROM pawl_internal.claim($1, $2, $3, $4, $5, $6, $7, $8) i
