-- perspective_tally_applied: events that a perspective has applied.
-- params: key, number
UPDATE perspective_tally SET applied = applied + ?2 WHERE key = ?1
