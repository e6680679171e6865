-- perspective_live: the live version of a perspective.
-- params: name
SELECT key FROM pawl_perspective WHERE name = ?1 AND state = 1
