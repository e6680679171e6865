-- pattern_delete: forgets the patterns of a receptor.
-- params: key
DELETE FROM pattern WHERE key = ?1
