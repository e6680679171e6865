-- mapping_insert: a perspective gets events of a type.
-- params: type, key
INSERT INTO pawl_mapping (type, key) VALUES (?1, ?2) ON CONFLICT DO NOTHING
