-- perspective_fed: the keys of the perspectives that are live or filling.
-- params: none
SELECT key FROM pawl_perspective WHERE state IN (1, 2) ORDER BY key
