-- perspective_set_backfill: how far a backfill is.
-- params: key, last stream, done
UPDATE pawl_perspective SET backfill_after = coalesce(?2, backfill_after), backfilled = ?3 WHERE key = ?1
