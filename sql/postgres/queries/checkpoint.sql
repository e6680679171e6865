-- checkpoint: checkpoints: how far a perspective has applied each stream.
-- calls: checkpoint_errors, checkpoint_events, checkpoint_skip, checkpoints_list, checkpoints_renew, checkpoints_report,
--   view_checkpoint

-- name: checkpoints_claim
SELECT g.granted, g.stream, g.perspective, g.version, g.head, g.token, g.lease_until_ms, g.replay_to, g.attempt
  FROM pawl_internal.checkpoints_claim($1, $2, $3, $4, $5) g
