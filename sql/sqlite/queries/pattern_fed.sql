-- pattern_fed: the patterns of perspectives that are live or being filled.
SELECT t.key, t.mode, t.text FROM pawl_perspective p JOIN pawl_pattern t ON t.key = p.key WHERE p.state IN (1, 2) ORDER BY t.key, t.n
