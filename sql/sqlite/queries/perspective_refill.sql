-- perspective_refill: a version that was given up is filled again.
-- params: key, state
UPDATE pawl_perspective SET state = ?2, paused = 0, backfilled = 0, backfill_after = NULL, position = 0 WHERE key = ?1
