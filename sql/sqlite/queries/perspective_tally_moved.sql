-- perspective_tally_moved: how the counts of a perspective change.
-- params: key, and what is added to pending, processing, completed, failed, stopped, applied
UPDATE pawl_perspective_tally
   SET pending = pending + ?2, processing = processing + ?3, completed = completed + ?4, failed = failed + ?5, stopped = stopped + ?6,
       applied = applied + ?7
 WHERE key = ?1
