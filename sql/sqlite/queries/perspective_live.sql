-- perspective_live: the live version of a perspective.
-- params: name
SELECT key FROM perspective WHERE name = ?1 AND state = 1
