-- schema_used: whether the file has anything in it.
SELECT 1 FROM sqlite_schema LIMIT 1
