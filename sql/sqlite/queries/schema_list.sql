-- schema_list: the migrations that were applied, oldest first.
SELECT version, name, checksum FROM schema_migration ORDER BY version
