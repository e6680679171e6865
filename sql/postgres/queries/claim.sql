-- claim: claims of messages: granting, renewing, ending.

-- name: claim
SELECT i.token, i.lease_until_ms, i.seq, {{i.message}}, i.attempt, i.deaths,
       i.out_of_order, i.suspect
  FROM pawl.claim($1, $2, $3, $4, $5, $6, $7) i

-- name: claim_lane
SELECT i.token, i.lease_until_ms, i.seq, {{i.message}}, i.attempt, i.deaths,
       i.out_of_order, i.suspect
  FROM pawl.claim_lane($1, $2, $3, $4, $5, $6, $7, $8) i

-- name: complete
SELECT pawl.complete($1, $2, $3, $4, $5, $6)

-- name: fail
SELECT f.answers, f.outcomes FROM pawl.fail($1, $2, $3, $4, $5, $6, $7, $8, $9) f

-- name: finish
SELECT pawl.finish($1, $2, $3)

-- name: release
SELECT pawl.release($1, $2, $3, $4, $5, $6)

-- name: renew
SELECT pawl.renew($1, $2, $3, $4, $5)
