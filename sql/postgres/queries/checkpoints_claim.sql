-- checkpoints_claim: see functions/checkpoints_claim.sql
SELECT g.granted, g.stream, g.perspective, g.version, g.head, g.token, g.lease_until_ms, g.replay_to, g.attempt
  FROM pawl.checkpoints_claim($1, $2, $3, $4, $5) g
