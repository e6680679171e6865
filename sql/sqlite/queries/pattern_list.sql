-- pattern_list: the patterns of a perspective.
-- params: key
SELECT mode, text FROM pattern WHERE key = ?1 ORDER BY n
