-- schema_foreign: whether tables are there that are not ours.
SELECT 1 FROM sqlite_schema WHERE type = 'table' LIMIT 1
