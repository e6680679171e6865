-- perspective_find: a version of a perspective.
-- params: key
SELECT state, paused, run, target, clear, batch, max_attempts, policy, backfilled, backfill_after, position, version, name
  FROM pawl_perspective WHERE key = ?1
