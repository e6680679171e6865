-- tally_add: add what one operation did.
-- params: kind, put, done, failed, dead, aside, stale, duplicate, redriven, discarded
UPDATE pawl_tally
   SET put = put + ?2, done = done + ?3, failed = failed + ?4, dead = dead + ?5, aside = aside + ?6, stale = stale + ?7,
       duplicate = duplicate + ?8, redriven = redriven + ?9, discarded = discarded + ?10
 WHERE kind = ?1
