-- claim: claims of messages: granting, renewing, ending.
-- calls: complete, fail, finish, release, renew

-- name: claim
-- What is usual is NULL, a first attempt too: a value costs the server more to send than to compare.
SELECT i.token, i.lease_until_ms, i.seq, {{i.message}}, nullif(i.attempt, 1),
       nullif(i.deaths, 0), nullif(i.out_of_order, false), nullif(i.suspect, false)
  FROM pawl_internal.claim($1, $2, $3, $4, $5, $6, $7) i

-- name: claim_lane
SELECT i.token, i.lease_until_ms, i.seq, {{i.message}}, nullif(i.attempt, 1),
       nullif(i.deaths, 0), nullif(i.out_of_order, false), nullif(i.suspect, false)
  FROM pawl_internal.claim_lane($1, $2, $3, $4, $5, $6, $7, $8) i
