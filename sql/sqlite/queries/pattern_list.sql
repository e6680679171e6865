-- pattern_list: the patterns of a perspective.
-- params: key
SELECT mode, text FROM pawl_pattern WHERE key = ?1 ORDER BY n
