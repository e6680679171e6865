-- perspective_tally_again: counts the states of checkpoints anew, after many were changed at once.
-- params: key; NULL: of all perspectives
UPDATE pawl_perspective_tally
   SET (pending, processing, completed, failed, stopped) =
       (SELECT coalesce(sum(c.status = 0), 0), coalesce(sum(c.status = 1), 0), coalesce(sum(c.status = 2), 0),
               coalesce(sum(c.status = 3), 0), coalesce(sum(c.stopped), 0)
          FROM pawl_checkpoint c WHERE c.perspective = pawl_perspective_tally.key)
 WHERE ?1 IS NULL OR key = ?1
