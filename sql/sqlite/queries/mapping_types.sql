-- mapping_types: types of events that a perspective gets.
-- params: key, limit
SELECT type FROM pawl_mapping WHERE key = ?1 LIMIT ?2
