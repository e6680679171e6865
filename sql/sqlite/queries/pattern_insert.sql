-- pattern_insert: one pattern of a perspective.
-- params: key, n, mode, text
INSERT INTO pawl_pattern (key, n, mode, text) VALUES (?1, ?2, ?3, ?4)
