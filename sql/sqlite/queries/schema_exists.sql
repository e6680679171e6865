-- schema_exists: whether the table of migrations is there.
SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'pawl_schema_migration'
