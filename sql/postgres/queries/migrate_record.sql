-- migrate_record: notes that a migration was applied.
-- params: version integer, name text, checksum text
INSERT INTO pawl.schema_migration (version, name, checksum, applied_ms)
VALUES ($1::integer, $2::text, $3::text, (extract(epoch FROM pg_catalog.clock_timestamp()) * 1000)::bigint)
