-- schema_record: note an applied migration.
-- params: version, name, checksum, now_ms
INSERT INTO pawl_schema_migration (version, name, checksum, applied_ms) VALUES (?1, ?2, ?3, ?4)
