-- pattern_delete: forgets the patterns of a receptor.
-- params: key
DELETE FROM pawl_pattern WHERE key = ?1
